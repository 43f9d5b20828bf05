import { checkMessage, checkView, hasRefusedBlock } from './checks.ts';
import { type Delivery, NO_ANSWER } from './deliver.ts';
import { isJson, objectIn, readJson, textIn } from './json.ts';
import type { Json } from './page-api.ts';
import { SlackRefusal, WebApiError } from './refusal.ts';
import type { StoredView } from './views.ts';
import type { World } from './world.ts';

/**
 * Sends a press, a submission or another interaction to the app.
 * @throws SlackRefusal not_interactive: the app's manifest turns interactivity off
 */
export async function sendInteraction(world: World, what: string, payload: Json): Promise<Delivery> {
  if (!world.app.isInteractive)
    throw new SlackRefusal('not_interactive', 'This app is not configured to handle interactive responses');
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  return world.deliverer.send(what, 'form', body);
}

/** How Slack reads an answer: acknowledged or not, and its body if it is JSON. */
export interface Ack {
  readonly ok: boolean;
  /** `operation_timeout` or `dispatch_failed` as shown to the user. */
  readonly error: string;
  readonly body: Json | undefined;
  readonly text: string;
}

/** Reads an answer, and records a broken rule when it is not a valid acknowledgement. */
export function readAck(world: World, delivery: Delivery): Ack {
  const { status, response, what } = delivery;
  if (response === NO_ANSWER && status === null) {
    world.journal.breakRule('late_ack', `${what}: ${response}; an ack must come within 3 s`);
    return { ok: false, error: 'operation_timeout', body: undefined, text: '' };
  }
  if (status !== 200) {
    const got = status === null ? response : `answered with ${status}`;
    world.journal.breakRule('bad_ack', `${what}: ${got}; an ack is 200`);
    return { ok: false, error: 'dispatch_failed', body: undefined, text: '' };
  }
  const parsed = response.trim().startsWith('{') ? readJson(response) : undefined;
  const body = isJson(parsed) ? parsed : undefined;
  return { ok: true, error: '', body, text: body ? '' : response };
}

/** Records an ack with a body where Slack ignores it. */
export function expectEmptyAck(world: World, what: string, ack: Ack): void {
  if (!ack.ok || (ack.body === undefined && ack.text.trim() === '')) return;
  world.journal.breakRule('bad_ack', `${what}: Slack takes no body in this ack`);
}

const OLD_BLOCKS = ['section', 'context', 'actions', 'header', 'divider'];

/** Whether the message of an ack has a block that Slack may refuse there: it tells nobody, so that the user would see nothing. */
function hasNewerBlock(world: World, what: string, blocks: unknown): boolean {
  const types = Array.isArray(blocks)
    ? blocks.map((block) => (isJson(block) ? textIn(block, 'type') : ''))
    : [];
  const newer = types.find((type) => !OLD_BLOCKS.includes(type));
  if (newer !== undefined) world.journal.breakRule('bad_ack', `${what}: an ack with a block "${newer}"`);
  return newer !== undefined;
}

export function messageInAck(world: World, what: string, ack: Ack): Json | undefined {
  const message = ack.body ?? (ack.text.trim() === '' ? undefined : { text: ack.text });
  if (!message) return undefined;
  if (textIn(message, 'text') === '' && !Array.isArray(message.blocks)) return undefined;
  if (hasRefusedBlock(world, message.blocks) || hasNewerBlock(world, what, message.blocks)) return undefined;
  return checkMessage(world, what, message).length === 0 ? message : undefined;
}

/** What a user reads in a modal, or below a message, when the app did not acknowledge. */
export const TROUBLE = 'We had some trouble connecting. Try again?';

/** Applies the response_action in the ack of a submission (Slack's "Modals" page). */
export function applyAck(world: World, submitted: StoredView, what: string, ack: Ack): void {
  const view = world.views.find(submitted.id);
  if (!view) return;
  const action = textIn(ack.body, 'response_action');
  if (!ack.ok) world.views.complain(view, {}, TROUBLE);
  else if (action === 'clear') world.views.close(view, true);
  else if (action === 'errors') showErrors(world, view, what, ack);
  else if (action === 'update' || action === 'push') showNext(world, view, what, action, ack);
  else closeAfter(world, view, what, ack);
}

function closeAfter(world: World, view: StoredView, what: string, ack: Ack): void {
  const isEmpty = ack.text.trim() === '' && Object.keys(ack.body ?? {}).length === 0;
  if (!isEmpty)
    world.journal.breakRule('bad_ack', `${what}: an ack of a submission is empty or has a response_action`);
  world.views.close(view);
}

function showErrors(world: World, view: StoredView, what: string, ack: Ack): void {
  const errors = Object.entries(objectIn(ack.body, 'errors') ?? {});
  const inputs = new Set(
    view.blocks.filter((block) => block.type === 'input').map((block) => block.block_id),
  );
  const isGood = errors.every(([blockId, words]) => inputs.has(blockId) && typeof words === 'string');
  if (isGood && errors.length > 0) {
    world.views.complain(
      view,
      Object.fromEntries(errors.map(([blockId, words]) => [blockId, String(words)])),
    );
    return;
  }
  world.journal.breakRule('bad_ack', `${what}: errors must be texts by the block_id of inputs of the view`);
  world.views.complain(view, {}, TROUBLE);
}

function showNext(world: World, view: StoredView, what: string, action: 'update' | 'push', ack: Ack): void {
  const next = objectIn(ack.body, 'view');
  const isRefused = checkView(world, what, next).length > 0 || hasRefusedBlock(world, next?.blocks);
  try {
    if (isRefused) world.views.complain(view, {}, TROUBLE);
    else if (action === 'update') world.views.update(view, next);
    else world.views.push(view.user, next);
  } catch (error) {
    if (!(error instanceof WebApiError)) throw error;
    world.journal.breakRule('bad_ack', `${what}: ${error.code}`);
    world.views.complain(view, {}, TROUBLE);
  }
}
