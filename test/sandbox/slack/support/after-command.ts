import type { Json } from '../../../../src/sandbox/slack/page-api.ts';
import { makeHandClock } from '../../../../src/sandbox/slack/world.ts';
import { plain, startBoth } from './fake-app.ts';

export const option = (text: string, value = text) => ({ text: plain(text), value });
export const input = (label: string, element: Json, more: Json = {}) => ({
  type: 'input',
  block_id: label,
  label: plain(label),
  element: { action_id: 'it', ...element },
  ...more,
});

/** A user who ran a command, and the trigger of it. */
export async function afterCommand(app: { ackTimeoutMs?: number } = {}) {
  const clock = makeHandClock();
  const started = await startBoth({ clock, app });
  const owner = started.slack.as('olga');
  await owner.types('/vps create');
  const trigger = started.app.last().trigger_id;
  const open = (view: Json) => started.app.call('views.open', { trigger_id: trigger, view });
  return {
    ...started,
    clock,
    owner,
    trigger,
    open,
    brokenRules: () => started.slack.brokenRules().map(({ rule }) => rule),
  };
}
