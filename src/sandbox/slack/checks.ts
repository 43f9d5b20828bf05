import type { BlockKitFault } from './block-kit/fault.ts';
import { findMessageFaults, findViewFaults } from './block-kit/find-faults.ts';
import { listElements } from './entered.ts';
import { isJson, objectIn, textIn } from './json.ts';
import type { Json } from './page-api.ts';
import type { World } from './world.ts';

/** Finds what Slack would refuse in a message, and records it as a broken rule. */
export function checkMessage(world: World, what: string, message: Json): readonly BlockKitFault[] {
  const faults = findMessageFaults(message);
  report(world, what, faults);
  if (faults.length === 0) checkDrawing(world, what, message.blocks);
  const hasBlocks = Array.isArray(message.blocks) && message.blocks.length > 0;
  const words = `${what}: blocks without text; notifications and screen readers use the text`;
  if (hasBlocks && textIn(message, 'text').trim() === '') world.journal.breakRule('no_text', words);
  return faults;
}

/** Finds what Slack would refuse in a view, and records it as a broken rule. */
export function checkView(world: World, what: string, view: unknown): readonly BlockKitFault[] {
  const faults = findViewFaults(view);
  report(world, what, faults);
  if (isJson(view) && faults.length === 0) checkDrawing(world, what, view.blocks);
  return faults;
}

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
  const words = `${what}: other organizations read “${text}” in #${channel.name}`;
  world.journal.breakRule('told_outsiders', words);
}

/** Slack's pages warn of naming a reply as the beginning of a thread. */
export function checkThread(world: World, what: string, channelId: string, threadTs: string): void {
  const root = threadTs === '' ? undefined : world.messages.find(channelId, threadTs);
  if (root?.threadTs === undefined || root.threadTs === root.ts) return;
  const words = `${what}: ${threadTs} is a reply, not the beginning of a thread`;
  world.journal.breakRule('reply_as_thread', words);
}

/** The texts of response_metadata.messages, in Slack's manner. */
export function faultWords(faults: readonly BlockKitFault[]): readonly string[] {
  return faults.map((fault) => `[ERROR] ${fault.words} [json-pointer:${fault.path}]`);
}

function checkDrawing(world: World, what: string, blocks: unknown): void {
  const drawn = Array.isArray(blocks) ? blocks.filter(isJson) : [];
  checkDialogs(world, what, drawn);
  checkEscapes(world, what, drawn);
  checkFolds(world, what, drawn);
}

/** Slack takes what stands in angle brackets for a mention, a date or a link; a placeholder there is not shown as it is. */
function checkEscapes(world: World, what: string, blocks: readonly Json[]): void {
  for (const text of mrkdwnIn(blocks)) {
    const [bare] = text.replace(/<(?:[@#!]|https?:|mailto:)[^<>]*>/g, '').match(/<[^>]*>?/) ?? [];
    if (bare !== undefined) world.journal.breakRule('unescaped', `${what}: ${bare}`);
  }
}

function mrkdwnIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(mrkdwnIn);
  if (!isJson(value)) return [];
  return value.type === 'mrkdwn' ? [textIn(value, 'text')] : Object.values(value).flatMap(mrkdwnIn);
}

/** Slack folds tall sections by their drawn height, unless they are sent expanded; the numbers are a guess. */
const FOLDED_CHARACTERS = 500;
const FOLDED_LINES = 6;

function checkFolds(world: World, what: string, blocks: readonly Json[]): void {
  for (const block of blocks) {
    const words = block.type === 'section' ? textIn(block.text, 'text') : '';
    const isTall = words.length > FOLDED_CHARACTERS || words.split('\n').length > FOLDED_LINES;
    if (!isTall || block.expand === true) continue;
    world.journal.breakRule('folded', `${what}: Slack folds a section of ${words.length} characters`);
  }
}

/** Slack draws the text of a confirmation dialog as it is, whatever its type says: users would read the markup. */
function checkDialogs(world: World, what: string, blocks: readonly Json[]): void {
  for (const { element } of listElements(blocks)) {
    const text = objectIn(objectIn(element, 'confirm'), 'text');
    const words = textIn(text, 'text');
    if (text?.type !== 'mrkdwn' || !/[`*_~]|<[!@#a-z]|&(amp|lt|gt);/.test(words)) continue;
    world.journal.breakRule('raw_markup', `${what}: the dialog shows ${words}`);
  }
}

function report(world: World, what: string, faults: readonly BlockKitFault[]): void {
  for (const fault of faults) {
    world.journal.breakRule('limits', `${what}: ${fault.path} ${fault.rule}: ${fault.words}`);
  }
}
