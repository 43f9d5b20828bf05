import type { Ack } from '../acks.ts';
import { checkView, hasRefusedBlock } from '../checks.ts';
import { objectIn, textIn } from '../json.ts';
import { WebApiError } from '../refusal.ts';
import type { StoredView } from '../views.ts';
import type { World } from '../world.ts';

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
