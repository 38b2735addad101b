// An assistant gateway for Telegram, Slack and Discord
package steward
