import { LIMITS as KIT_LIMITS } from '../../../slack/kit/blocks.ts';

/**
 * Block Kit's limits, in characters and counts as the names say: those that the app's builders cut to, and the others.
 * From Slack's Block Kit reference and the types of `@slack/types` 3.2.
 */
export const LIMITS = {
  ...KIT_LIMITS,

  messageBlocks: 50,
  viewBlocks: 100,

  sectionFields: 10,

  actionsElements: 25,
  contextElements: 10,

  buttonValue: 2000,
  url: 3000,

  /** action_id, block_id, callback_id. */
  id: 255,

  optionGroups: 100,
  placeholder: 150,
  inputLabel: 2000,
  inputHint: 2000,
  inputText: 3000,

  privateMetadata: 3000,
  /** Modals on top of each other. */
  viewStack: 3,
  viewBytes: 250_000,

  /** Header included. */
  dataTableMinRows: 2,
  /** The stricter of two readings of Slack's page, header included; the newer one says 201, and 20,000 characters. */
  dataTableRows: 101,
  tableColumns: 20,
  /** All cells of all data tables of a message. */
  dataTableText: 10_000,
  dataTablePageSize: 100,
  /** Charts of a message: not on Slack's page, but vercel/chat#696 saw a third one refused. */
  dataVisualizations: 2,
  chartPoints: 20,

  messageText: 40_000,
  /**
   * All text of a message's blocks, tables aside. Not written down by Slack: bolt-js#2509
   * and #2867 saw chat.postMessage refuse between 12,000 and 13,200.
   */
  messageTextRefused: 13_000,
} as const;

/** The blocks that each surface takes (Block Kit reference, "Available in surfaces"). */
export const SURFACES = {
  message: [
    'actions',
    'context',
    'data_table',
    'data_visualization',
    'divider',
    'header',
    'input',
    'rich_text',
    'section',
  ],
  modal: ['actions', 'context', 'divider', 'header', 'input', 'rich_text', 'section'],
  home: ['actions', 'context', 'data_table', 'divider', 'header', 'input', 'rich_text', 'section'],
} as const;

export type Surface = keyof typeof SURFACES;
