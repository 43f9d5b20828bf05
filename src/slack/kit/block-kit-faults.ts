import { BLOCK, blocksWithin, isBlockType } from './faults/blocks.ts';
import {
  type BlockKitFault,
  type Fields,
  flag,
  isFields,
  list,
  listIn,
  type Report,
  shape,
  string,
} from './faults/check.ts';
import { plainText } from './faults/composition.ts';
import { measureText } from './faults/text-of.ts';
import { LIMITS, SURFACES, type Surface } from './limits.ts';

export type { BlockKitFault } from './faults/check.ts';

/** What of a message Slack looks at here; any typed message fits. */
export interface MessageLike {
  readonly text?: unknown;
  readonly blocks?: unknown;
}

/** Finds everything in a message that Slack would refuse (Block Kit reference; empty: it may be sent). */
export function findMessageFaults(message: MessageLike): BlockKitFault[] {
  return collect((report) => {
    if (message.text !== undefined) string({ max: LIMITS.messageText })(message.text, '/text', report);
    if (message.blocks === undefined) return;
    checkBlocks(message.blocks, 'message', report);
    checkMessageText(listIn(message, 'blocks'), report);
  });
}

/** Finds everything in a modal or home view that Slack would refuse. */
export function findViewFaults(view: unknown): BlockKitFault[] {
  return collect((report) => {
    const surface = isFields(view) && view.type === 'home' ? 'home' : 'modal';
    const fields = surface === 'home' ? HOME_FIELDS : MODAL_FIELDS;
    const required = surface === 'home' ? [] : ['title'];
    shape({ ...fields, blocks: () => {} }, 'type', 'blocks', ...required)(view, '', report);
    if (!isFields(view)) return;
    if (view.type !== surface) report('/type', 'unknown_type', 'must be modal or home');
    checkBlocks(view.blocks, surface, report);
    const hasInput = blocksWithin(listIn(view, 'blocks')).some((block) => block.type === 'input');
    if (surface === 'modal' && hasInput && !view.submit)
      report('/submit', 'submit_required', 'a modal with inputs needs submit');
    const bytes = Buffer.byteLength(JSON.stringify(view));
    if (bytes > LIMITS.viewBytes) report('', 'too_large', `has ${bytes} bytes; at most ${LIMITS.viewBytes}`);
  });
}

const HOME_FIELDS = {
  type: string({}),
  private_metadata: string({ max: LIMITS.privateMetadata }),
  callback_id: string({ max: LIMITS.id }),
  external_id: string({ max: LIMITS.id }),
};

const MODAL_FIELDS = {
  ...HOME_FIELDS,
  title: plainText(LIMITS.viewTitle),
  submit: plainText(LIMITS.viewTitle),
  close: plainText(LIMITS.viewTitle),
  clear_on_close: flag,
  notify_on_close: flag,
};

function collect(check: (report: Report) => void): BlockKitFault[] {
  const faults: BlockKitFault[] = [];
  check((path, rule, words) => faults.push({ path, rule, words }));
  return faults;
}

function checkBlocks(blocks: unknown, surface: Surface, report: Report): void {
  const max = surface === 'message' ? LIMITS.messageBlocks : LIMITS.viewBlocks;
  list(BLOCK, { max })(blocks, '/blocks', report);
  const allowed: readonly string[] = SURFACES[surface];
  listIn({ blocks }, 'blocks').forEach((block, index) => {
    if (!isFields(block) || !isBlockType(block.type) || allowed.includes(block.type)) return;
    report(`/blocks/${index}`, 'not_allowed_here', `${block.type} can't be in a ${surface}`);
  });
  const within = blocksWithin(listIn({ blocks }, 'blocks'));
  checkUnique(
    within.map((block) => block.block_id),
    'block_id',
    '/blocks',
    report,
  );
  within.forEach((block) => {
    const elements = [
      ...listIn(block, 'elements'),
      ...listIn(block, 'actions'),
      block.accessory,
      block.element,
    ];
    const ids = elements.map((element) => (isFields(element) ? element.action_id : undefined));
    checkUnique(ids, 'action_id', `/blocks/${within.indexOf(block)}`, report);
  });
}

function checkUnique(ids: readonly unknown[], what: string, path: string, report: Report): void {
  const known = ids.filter((id) => typeof id === 'string');
  const twice = known.filter((id, index) => known.indexOf(id) !== index);
  for (const id of new Set(twice))
    report(path, 'duplicate_id', `${what} ${JSON.stringify(id)} is used twice`);
}

function checkMessageText(blocks: readonly unknown[], report: Report): void {
  const known = blocks.filter(isFields);
  const textOfRows = (type: string) =>
    measureText(known.filter((block) => block.type === type).map((block) => block.rows));
  const hasOwnBudget = (block: Fields) => ['data_table', 'table', 'markdown'].includes(String(block.type));
  const budgets = [
    ['cells of data tables', textOfRows('data_table'), LIMITS.dataTableText],
    ['cells of tables', textOfRows('table'), LIMITS.tableText],
    ['markdown blocks', measureText(known.filter((block) => block.type === 'markdown')), LIMITS.markdown],
    [
      'other blocks',
      measureText(known.filter((block) => !hasOwnBudget(block))),
      LIMITS.messageTextRefused - 1,
    ],
  ] as const;
  for (const [what, characters, max] of budgets) {
    if (characters > max)
      report('/blocks', 'text_budget', `all ${what} have ${characters} characters; at most ${max}`);
  }
  const charts = known.filter((block) => block.type === 'data_visualization').length;
  if (charts > LIMITS.dataVisualizations)
    report(
      '/blocks',
      'too_many',
      `has ${charts} data_visualization blocks; at most ${LIMITS.dataVisualizations}`,
    );
}
