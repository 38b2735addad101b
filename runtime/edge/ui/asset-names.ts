/**
 * File names of the pages' styles and scripts. Bundling replaces this module with a copy that contains hashed names.
 */
export const ASSET_NAMES = {
  "console.css": "console.css",
  "chat.css": "chat.css",
  "live.js": "live.js",
  "usage.js": "usage.js",
  "logs.js": "logs.js",
  "chat.js": "chat.js",
  "editor.js": "editor.js",
  "icon.svg": "icon.svg",
  "icon.png": "icon.png",
};
