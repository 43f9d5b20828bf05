import { findChannel } from '../channels.ts';
import { optionsOf } from '../entered.ts';
import { textIn } from '../json.ts';
import type { Entered, Json } from '../page-api.ts';
import { SlackRefusal } from '../refusal.ts';
import { suggest } from '../user-actions/suggest.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';
import { actAt, type Found } from './find.ts';

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
