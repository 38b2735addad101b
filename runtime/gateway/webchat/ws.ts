// Imported with the first chat page, to keep startup fast.
export { WebSocketServer } from "ws";
