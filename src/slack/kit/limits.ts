/**
 * Limits that messages and modals are cut to, in characters or counts.
 * From Slack's Block Kit reference and the types of `@slack/types` 3.2.
 */
export const LIMITS = {
  /** Any text object, and the text of a section. */
  text: 3000,
  sectionField: 2000,
  header: 150,
  alert: 200,
  buttonText: 75,
  accessibilityLabel: 75,
  options: 100,
  optionText: 75,
  optionDescription: 75,
  /** Slack's pages say 150, its published types 75: the stricter holds here. */
  optionValue: 75,
  confirmTitle: 100,
  confirmText: 300,
  confirmButton: 30,
  /** Title, submit and close of a modal. */
  viewTitle: 24,
  /** Title of a chart, and of its axes. */
  chartTitle: 50,
  /** A category, segment or series of a chart. */
  chartLabel: 20,
  /** Text of a preformatted block. Not written down by Slack: as strict as any other text. */
  preformatted: 3000,
} as const;
