// Loaded with the first chat page, so that a start without one is not held up.
export { WebSocketServer } from "ws";
