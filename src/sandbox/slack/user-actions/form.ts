import { setTimeout as sleep } from 'node:timers/promises';
import { applyAck, readAck, sendInteraction } from '../acks.ts';
import { LIMITS } from '../block-kit/limits.ts';
import { enter, isEmpty, isTextInput, listElements, stateOf } from '../entered.ts';
import { textIn } from '../json.ts';
import type { Entered, Json, Texts } from '../page-api.ts';
import { submissionPayload } from '../payloads.ts';
import { SlackRefusal } from '../refusal.ts';
import type { StoredView } from '../views.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';
import { checkActive, checkPicker, enteredAt, getElement, getView, offerKey } from './places.ts';

export type FormValues = Readonly<Record<string, Readonly<Record<string, Entered>>>>;

/**
 * A user submits a modal. The client itself checks required inputs and lengths first.
 * @throws SlackRefusal view_closed, no_submit, invalid_input, not_interactive
 */
export async function submit(world: World, user: User, viewId: string, values: FormValues = {}) {
  const view = getTopView(world, user, viewId);
  if (!view.fields.submit) throw new SlackRefusal('no_submit', 'This modal has no submit button');
  fillAll(world, user, view, values);
  const errors = findInputFaults(view);
  if (Object.keys(errors).length > 0) {
    world.views.complain(view, errors);
    throw new SlackRefusal('invalid_input', Object.values(errors).join(' '), errors);
  }
  world.views.complain(view, {});
  const what = `view_submission ${textIn(view.fields, 'callback_id')}`.trim();
  const delivery = await sendInteraction(world, what, submissionPayload(world, user, view));
  const ack = readAck(world, delivery);
  const lateMs = world.faults.lateAcksMs;
  if (lateMs > 0) await sleep(lateMs);
  applyAck(world, view, what, ack);
  return delivery;
}

/**
 * A user closes a modal: Cancel closes this one, × (`all`) the whole stack. The app is not told.
 * @throws SlackRefusal view_closed
 */
export function close(world: World, user: User, viewId: string, all = false): undefined {
  world.views.close(getTopView(world, user, viewId), all);
}

function getTopView(world: World, user: User, viewId: string): StoredView {
  checkActive(world, user);
  const view = getView(world, user, viewId);
  if (world.views.stackOf(user.id).at(-1)?.id !== view.id)
    throw new SlackRefusal('view_closed', 'This modal is not the visible one');
  return view;
}

function fillAll(world: World, user: User, view: StoredView, values: FormValues): void {
  for (const [block, actions] of Object.entries(values)) {
    for (const [action, value] of Object.entries(actions)) {
      const at = getElement(view, block, action);
      checkPicker(world, user, at.element, value);
      enter(at, value, enteredAt(view, user), world.offered.get(offerKey(user, view, at)));
    }
  }
}

/** Finds the inputs that Slack's client would not let through, by block_id. */
function findInputFaults(view: StoredView): Texts {
  const faults: Record<string, string> = {};
  for (const placed of listElements(view.blocks)) {
    if (placed.block.type !== 'input') continue;
    const state = stateOf(placed, view.entered);
    const words = isEmpty(state)
      ? placed.block.optional === true
        ? undefined
        : 'Please complete this required field.'
      : isTextInput(placed.element)
        ? describeTextFault(placed.element, textIn(state, 'value'))
        : undefined;
    if (words) faults[placed.blockId] = words;
  }
  return faults;
}

function describeTextFault(element: Json, text: string): string | undefined {
  const max = typeof element.max_length === 'number' ? element.max_length : LIMITS.inputText;
  return text.length > max ? `Please use at most ${max} characters.` : undefined;
}
