/** How long the process that changed a state may itself still be notifying users. */
export const NOTIFYING_MS = 60_000;
/** After this time a message would come too late: notifying is given up. */
export const NOTIFY_FOR_MS = 24 * 3_600_000;
