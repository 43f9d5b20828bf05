import { expectEmptyAck, readAck } from '../acks.ts';
import type { Delivery } from '../deliver.ts';
import { enter } from '../entered.ts';
import { textIn } from '../json.ts';
import type { Entered } from '../page-api.ts';
import { closedPayload, submissionPayload } from '../payloads.ts';
import { SlackRefusal } from '../refusal.ts';
import type { StoredView } from '../views.ts';
import type { Person } from '../workspace.ts';
import type { World } from '../world.ts';
import { findInputFaults } from './inputs.ts';
import { obey } from './obey.ts';
import { checkActive, enteredAt, getElement, getView, offeredTo } from './places.ts';

export type FormValues = Readonly<Record<string, Readonly<Record<string, Entered>>>>;

/**
 * A person submits a modal. The client itself checks required inputs and lengths first.
 * @throws SlackRefusal view_closed, no_submit, invalid_input
 */
export async function submit(
  world: World,
  person: Person,
  viewId: string,
  values: FormValues = {},
): Promise<Delivery> {
  const view = getTopView(world, person, viewId);
  if (!view.fields.submit) throw new SlackRefusal('no_submit', 'This modal has no submit button');
  fillAll(world, person, view, values);
  const errors = findInputFaults(view);
  if (Object.keys(errors).length > 0) {
    world.views.complain(view, errors);
    const words = Object.values(errors).join(' ');
    throw new SlackRefusal('invalid_input', words, { errors });
  }
  world.views.complain(view, {});
  const body = new URLSearchParams({ payload: JSON.stringify(submissionPayload(world, person, view)) });
  const what = `view_submission ${textIn(view.fields, 'callback_id')}`.trim();
  const delivery = await world.deliverer.send(what, 'form', body.toString());
  obey(world, view, what, readAck(world, delivery));
  return delivery;
}

/**
 * A person closes a modal: Cancel closes this one, × (`all`) the whole stack.
 * @throws SlackRefusal view_closed
 */
export async function close(
  world: World,
  person: Person,
  viewId: string,
  all = false,
): Promise<Delivery | undefined> {
  const view = getTopView(world, person, viewId);
  const isCleared = all || view.fields.clear_on_close === true;
  const stack = world.views.stackOf(person.id);
  world.views.close(view, isCleared);
  let last: Delivery | undefined;
  for (const closed of isCleared ? [...stack].reverse() : [view]) {
    if (closed.fields.notify_on_close !== true) continue;
    const payload = closedPayload(world, person, closed, isCleared);
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    const what = `view_closed ${textIn(closed.fields, 'callback_id')}`.trim();
    last = await world.deliverer.send(what, 'form', body);
    expectEmptyAck(world, what, readAck(world, last));
  }
  return last;
}

function getTopView(world: World, person: Person, viewId: string): StoredView {
  checkActive(world, person);
  const view = getView(world, person, viewId);
  if (world.views.stackOf(person.id).at(-1)?.id !== view.id)
    throw new SlackRefusal('view_closed', 'This modal is not the visible one');
  return view;
}

function fillAll(world: World, person: Person, view: StoredView, values: FormValues): void {
  for (const [block, actions] of Object.entries(values)) {
    for (const [action, value] of Object.entries(actions)) {
      const at = getElement(view, block, action);
      enter(at, value, enteredAt(view, person), offeredTo(world, person, view, at));
    }
  }
}
