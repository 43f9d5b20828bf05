/** What follows from a change of state begins within this time, unless the process that made the change has died. */
export const FOLLOWING_MS = 15_000;
/** After this time a message would come too late: notifying is given up. */
export const NOTIFY_FOR_MS = 24 * 3_600_000;
