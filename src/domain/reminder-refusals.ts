/** The refusals of reminders. */
export interface ReminderRefusalDetails {
  /** The paid time ends too soon for another reminder after the snooze. */
  snooze_too_late: { label: string };
  /** None of the servers that the user may renew has to be renewed soon. */
  nothing_to_renew: Record<never, never>;
}
