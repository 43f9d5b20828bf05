/** For so long the process that changed a state may still be notifying users of it itself. */
export const NOTIFYING_MS = 60_000;
/** After so long a message would come too late: notifying is given up. */
export const NOTIFY_FOR_MS = 24 * 3_600_000;
