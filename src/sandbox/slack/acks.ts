import { checkMessage, hasRefusedBlock } from './checks.ts';
import { type Delivery, NO_ANSWER } from './deliver.ts';
import { isJson, readJson, textIn } from './json.ts';
import type { Json } from './page-api.ts';
import type { World } from './world.ts';

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
    world.journal.breakRule(
      'bad_ack',
      `${what}: ${status === null ? response : `answered with ${status}`}; an ack is 200`,
    );
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

const OLD_BLOCKS = ['section', 'context', 'actions', 'header', 'divider', 'image'];

/** Whether the message of an ack has a block that Slack may refuse there: it tells nobody, so that the user would see nothing. */
function hasNewerBlock(world: World, what: string, blocks: unknown): boolean {
  const types = Array.isArray(blocks)
    ? blocks.map((block) => (isJson(block) ? textIn(block, 'type') : ''))
    : [];
  const newer = types.find((type) => !OLD_BLOCKS.includes(type));
  if (newer !== undefined) world.journal.breakRule('bad_ack', `${what}: an ack with a block "${newer}"`);
  return newer !== undefined;
}

/** Reads the message in the ack of a command; undefined: none, or one that Slack refuses. */
export function messageInAck(world: World, what: string, ack: Ack): Json | undefined {
  const message = ack.body ?? (ack.text.trim() === '' ? undefined : { text: ack.text });
  if (!message) return undefined;
  if (textIn(message, 'text') === '' && !Array.isArray(message.blocks)) return undefined;
  if (hasRefusedBlock(world, message.blocks) || hasNewerBlock(world, what, message.blocks)) return undefined;
  return checkMessage(world, what, message).length === 0 ? message : undefined;
}
