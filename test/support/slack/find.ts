import { listElements, optionsOf, type PlacedElement } from '../../../src/sandbox/slack/entered.ts';
import { objectIn, textIn } from '../../../src/sandbox/slack/json.ts';
import type { StoredMessage } from '../../../src/sandbox/slack/messages.ts';
import type { Entered, Json, PagePlace } from '../../../src/sandbox/slack/page-api.ts';
import { SlackRefusal } from '../../../src/sandbox/slack/refusal.ts';
import { suggest } from '../../../src/sandbox/slack/user-actions/press.ts';
import type { StoredView } from '../../../src/sandbox/slack/views.ts';
import { findChannel, type User } from '../../../src/sandbox/slack/workspace.ts';
import type { World } from '../../../src/sandbox/slack/world.ts';
import { decodeEntities } from './mrkdwn.ts';

export type Surface = StoredMessage | StoredView;

/** An element that a user can reach, and where it is. */
export interface Found {
  readonly at: PlacedElement;
  readonly place: PagePlace;
  readonly surface: Surface;
}

export type Wanted = string | RegExp;

export function matches(text: string, wanted: Wanted): boolean {
  return typeof wanted === 'string' ? text.trim() === wanted : wanted.test(text);
}

/** Finds a button by its text; the surfaces are looked through in order. */
export function findButton(surfaces: readonly Surface[], wanted: Wanted): Found | undefined {
  return findIn(surfaces, ({ element }) => matches(textIn(element.text, 'text'), wanted));
}

/** Finds an input by its label, or a menu by its placeholder or the text next to it. */
export function findInput(surfaces: readonly Surface[], wanted: Wanted): Found | undefined {
  const isInput = ({ element }: PlacedElement) => !String(element.type).endsWith('button');
  return (
    findIn(surfaces, (at) => isInput(at) && namesOf(at).some((name) => matches(name, wanted))) ??
    findIn(surfaces, (at) => isInput(at) && typeof wanted === 'string' && textBeside(at).includes(wanted))
  );
}

/** How an element is named in an action. */
export function actAt({ place, at }: Found) {
  return { place, block: at.blockId, action: at.actionId };
}

function placeOf(surface: Surface): PagePlace {
  return 'hash' in surface ? { view: surface.id } : { channel: surface.channel, ts: surface.ts };
}

function findIn(surfaces: readonly Surface[], isWanted: (at: PlacedElement) => boolean): Found | undefined {
  for (const surface of surfaces) {
    const at = listElements(surface.blocks).findLast(isWanted);
    if (at) return { at, place: placeOf(surface), surface };
  }
  return undefined;
}

function namesOf({ block, element }: PlacedElement): readonly string[] {
  return [textIn(block.label, 'text'), textIn(element.placeholder, 'text'), textBeside({ block })].filter(
    (name) => name !== '',
  );
}

function textBeside({ block }: Pick<PlacedElement, 'block'>): string {
  return decodeEntities(textIn(block.text, 'text'));
}

/** The words of the confirmation dialog that a button would show. */
export function confirmationAt(found: Found | undefined): string | undefined {
  const dialog = objectIn(found?.at.element, 'confirm');
  return (
    dialog && ['title', 'text', 'deny', 'confirm'].map((part) => textIn(dialog[part], 'text')).join('\n')
  );
}

/** The addresses of all links and link buttons. */
export function linksIn(surfaces: readonly Surface[]): readonly string[] {
  const written = JSON.stringify(surfaces.map((each) => [each.blocks, 'text' in each && each.text]));
  return [...new Set(written.match(/https?:\/\/[^\s"\\|<>]+/g) ?? [])].map(decodeEntities);
}

/** A thread shows its first message and the replies; the channel shows what is no reply. */
export function isOnScreen({ ts, threadTs }: StoredMessage, openThread: string | undefined): boolean {
  if (openThread !== undefined) return ts === openThread || threadTs === openThread;
  return threadTs === undefined || threadTs === ts;
}

/** Turns what a test names (an option's text, `@operator`, `#ops`) into what Slack's client would enter. */
export async function toEntered(world: World, user: User, found: Found, value: Entered): Promise<Entered> {
  if (value === null) return null;
  if (typeof value !== 'string') {
    return Promise.all(value.map(async (each) => String(await toEntered(world, user, found, each))));
  }
  const type = String(found.at.element.type);
  const one = await toOne(world, user, found, value);
  return type.startsWith('multi_') || type === 'checkboxes' ? [one] : one;
}

async function toOne(world: World, user: User, found: Found, value: string): Promise<string> {
  const { element } = found.at;
  const type = String(element.type);
  if (type.includes('external_select')) return suggestedValue(world, user, found, value);
  if (type.includes('users_select')) return getId(world, value);
  if (type.includes('channels_select') || type.includes('conversations_select'))
    return findChannel(world.channels, value, user.id)?.id ?? getId(world, value);
  const options = optionsOf(element);
  if (options.length === 0) return value;
  return optionValueOf(options, value) ?? refuseOption(options, value);
}

/** Slack's client does not offer deactivated users. */
function getId(world: World, name: string): string {
  const user = world.roster.findUser(name.replace(/^@/, ''));
  if (user?.isDeactivated)
    throw new SlackRefusal('not_an_option', `${user.name} is deactivated, and not offered`);
  return user?.id ?? name;
}

/** Types the text into the select, as a user would, and takes the option that fits. */
async function suggestedValue(world: World, user: User, found: Found, typed: string): Promise<string> {
  const options = await offeredOptions(world, user, found, typed);
  return optionValueOf(options, typed) ?? refuseOption(options, typed);
}

function optionValueOf(options: readonly Json[], wanted: string): string | undefined {
  const texts = options.map((option) => textIn(option.text, 'text'));
  const exact = options.find((option, index) => texts[index] === wanted || option.value === wanted);
  const partly = options.filter((_option, index) => texts[index]?.includes(wanted));
  const chosen = exact ?? (partly.length === 1 ? partly[0] : undefined);
  return chosen && String(chosen.value);
}

function refuseOption(options: readonly Json[], wanted: string): never {
  const offered = options.map((option) => textIn(option.text, 'text')).join(', ');
  throw new SlackRefusal('not_an_option', `${JSON.stringify(wanted)} is not offered; there is: ${offered}`);
}

/** The texts of the options that the app offers for what is typed into an external select. */
export async function offeredTexts(
  world: World,
  user: User,
  found: Found,
  query: string,
): Promise<readonly string[]> {
  return textsOf(await offeredOptions(world, user, found, query));
}

async function offeredOptions(world: World, user: User, found: Found, query: string) {
  const { options, optionGroups } = await suggest(world, user, actAt(found), query);
  return optionsOf({ options, option_groups: optionGroups });
}

export function textsOf(options: readonly Json[]): readonly string[] {
  return options.map((option) => textIn(option.text, 'text'));
}
