import { type BlockKitFault, findMessageFaults, findViewFaults } from './block-kit/find-faults.ts';
import { isJson, textIn } from './json.ts';
import type { Json } from './page-api.ts';
import type { World } from './world.ts';

/** Finds what Slack would refuse in a message, and records it as a broken law. */
export function checkMessage(world: World, what: string, message: Json): readonly BlockKitFault[] {
  const faults = findMessageFaults(message);
  report(world, what, faults);
  const hasBlocks = Array.isArray(message.blocks) && message.blocks.length > 0;
  if (hasBlocks && textIn(message, 'text').trim() === '')
    world.journal.breakLaw(
      'no_text',
      `${what}: blocks without text; notifications and screen readers use the text`,
    );
  return faults;
}

/** Finds what Slack would refuse in a view, and records it as a broken law. */
export function checkView(world: World, what: string, view: unknown): readonly BlockKitFault[] {
  const faults = findViewFaults(view);
  report(world, what, faults);
  return faults;
}

/** Tells whether a fault switch refuses one of these blocks. */
export function hasRefusedBlock(world: World, blocks: unknown): boolean {
  return (
    Array.isArray(blocks) &&
    blocks.some((block) => isJson(block) && world.faults.isRefused(String(block.type)))
  );
}

/** People of other organizations read along in a channel that is shared with them, or is about to be. */
export function checkOutsiders(world: World, what: string, channelId: string, text: string): void {
  const channel = world.channels.find((each) => each.id === channelId);
  if (channel?.kind !== 'shared' && !channel?.isPendingShared) return;
  world.journal.breakLaw('told_outsiders', `${what}: other organizations read “${text}” in #${channel.name}`);
}

/** The texts of response_metadata.messages, in Slack's manner. */
export function faultWords(faults: readonly BlockKitFault[]): readonly string[] {
  return faults.map((fault) => `[ERROR] ${fault.words} [json-pointer:${fault.path}]`);
}

function report(world: World, what: string, faults: readonly BlockKitFault[]): void {
  for (const fault of faults) {
    world.journal.breakLaw('limits', `${what}: ${fault.path} ${fault.rule}: ${fault.words}`);
  }
}
