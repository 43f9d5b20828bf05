import type { Delivery } from '../../../src/sandbox/slack/deliver.ts';
import { listElements, optionsOf, type PlacedElement } from '../../../src/sandbox/slack/entered.ts';
import { sendChanged } from '../../../src/sandbox/slack/events.ts';
import { objectIn, textIn } from '../../../src/sandbox/slack/json.ts';
import { escapeTyped } from '../../../src/sandbox/slack/mentions.ts';
import type { StoredMessage } from '../../../src/sandbox/slack/messages.ts';
import type { Entered, Json, PagePlace } from '../../../src/sandbox/slack/page-api.ts';
import { SlackRefusal } from '../../../src/sandbox/slack/refusal.ts';
import { close, type FormValues, submit } from '../../../src/sandbox/slack/user-actions/form.ts';
import { checkActive, getChannel, getMessage } from '../../../src/sandbox/slack/user-actions/places.ts';
import { fill, press, suggest } from '../../../src/sandbox/slack/user-actions/press.ts';
import {
  type AppTab,
  openTab,
  reload,
  type Typing,
  type,
  useShortcut,
} from '../../../src/sandbox/slack/user-actions/type.ts';
import type { StoredView } from '../../../src/sandbox/slack/views.ts';
import { findChannel, type User } from '../../../src/sandbox/slack/workspace.ts';
import type { World } from '../../../src/sandbox/slack/world.ts';
import { decodeEntities } from './mrkdwn.ts';
import { createSight, type SeenMessage, type SeenView, seeView, squeeze } from './screen.ts';

/**
 * A user at a Slack client, for tests that read like stories. A promise resolves once the app has acknowledged, not when
 * all its work is done: `sees` waits for that. What a real client would refuse is thrown as a SlackRefusal.
 */
export class Persona {
  readonly #world: World;
  readonly #user: User;
  readonly #channel: string;
  readonly #threadTs: string | undefined;
  readonly #see: (message: StoredMessage) => SeenMessage;
  #seenUpTo = 0;
  #isHomeOpen = false;

  constructor(world: World, user: User, channel: string, threadTs?: string) {
    this.#world = world;
    this.#user = user;
    this.#channel = channel;
    this.#threadTs = threadTs;
    this.#see = createSight(world, user);
  }

  get id() {
    return this.#user.id;
  }

  /** The same user, looking at `#ops`, or at `dm`, the conversation with the app. */
  in(channel: string): Persona {
    return new Persona(this.#world, this.#user, getChannel(this.#world, this.#user, channel).id);
  }

  /** The same user, with the thread open that begins with the newest message that shows this text. */
  inThreadOf(text: string): Persona {
    return this.thread(this.#newest(text).ts);
  }

  /** The same user, with this thread open. */
  thread(ts: string): Persona {
    return new Persona(this.#world, this.#user, this.#channel, ts);
  }

  /** Edits their newest message that shows this text. */
  async edits(text: string, changed: string): Promise<Delivery | undefined> {
    checkActive(this.#world, this.#user);
    const message = getMessage(this.#world, this.#user, this.#newest(text));
    if (message.user !== this.id)
      throw new SlackRefusal('cant_update_message', 'You can only edit your own messages');
    const { messages } = this.#world;
    const edited = messages.change(message, escapeTyped(changed, this.#world), message.blocks);
    return sendChanged(this.#world, edited, message);
  }

  /** Types a slash command, or a plain message. */
  types(text: string, typing: Typing = {}): Promise<Delivery | undefined> {
    return type(this.#world, this.#user, this.#channel, text, { ...typing, threadTs: this.#threadTs });
  }

  /** Presses a button: in the open modal (Submit and Close, too), else the newest one in sight. Waits for it. */
  async presses(wanted: Wanted, { confirm = true }: Confirming = {}): Promise<Delivery | undefined> {
    const act = await this.#wait(() => this.#buttonAct(wanted, confirm), `a button ${String(wanted)}`);
    return act();
  }

  /** Chooses an option from a menu, found by its label, placeholder or the text next to it. Waits for the menu. */
  async chooses(
    wanted: Wanted,
    option: string,
    { confirm = true }: Confirming = {},
  ): Promise<Delivery | undefined> {
    const found = await this.#input(wanted);
    const value = await toEntered(this.#world, this.#user, found, option);
    const dialog = objectIn(found.at.element, 'confirm');
    if (dialog && !confirm) return undefined;
    return fill(this.#world, this.#user, { ...actAt(found), value, confirmed: confirm });
  }

  /** Fills inputs by their labels: text, an option's text or value, `@operator`, `#ops`. */
  async fills(values: Readonly<Record<string, Entered>>): Promise<void> {
    for (const [label, value] of Object.entries(values)) {
      const found = await this.#input(label);
      const entered = await toEntered(this.#world, this.#user, found, value);
      await fill(this.#world, this.#user, { ...actAt(found), value: entered, confirmed: true });
    }
  }

  async submits(values: FormValues = {}): Promise<Delivery> {
    return submit(this.#world, this.#user, (await this.#openModal()).id, values);
  }

  /** Closes the open modal by Cancel, or with `all` the stack by ×. */
  async closes({ all = false } = {}): Promise<Delivery | undefined> {
    return close(this.#world, this.#user, (await this.#openModal()).id, all);
  }

  /** Waits until this can be read on the screen. */
  async sees(wanted: Wanted, patienceMs = PATIENCE_MS): Promise<void> {
    await this.#wait(() => this.#reads(wanted) || undefined, JSON.stringify(String(wanted)), patienceMs);
  }

  /** Fails when this can be read on the screen now. */
  doesNotSee(wanted: Wanted): void {
    if (this.#reads(wanted))
      throw new Error(`${this.#user.name} does see ${String(wanted)}:\n${this.screen()}`);
  }

  /** Ignores the present messages from now on, unless they change. */
  overlooksOldMessages(): this {
    this.#seenUpTo = this.#world.messages.order;
    return this;
  }

  /** Everything visible, as text: the open modal, the home tab once opened, the messages of the channel. */
  screen(): string {
    const modal = this.modal();
    const home = this.#isHomeOpen ? this.home() : undefined;
    const messages = this.messages().map((each) => `${each.heading}\n${each.shown}`);
    return [modal && `┌ ${modal.shown}\n└`, home?.shown, ...messages].filter(Boolean).join('\n');
  }

  /** The open modal. */
  modal(): SeenView | undefined {
    const view = this.#world.views.stackOf(this.#user.id).at(-1);
    return view && seeView(this.#world, view);
  }

  /** The home tab, as the app published it last. */
  home(): SeenView | undefined {
    const view = this.#world.views.homeOf(this.#user.id);
    return view && seeView(this.#world, view);
  }

  /** The messages of the channel that this user sees, oldest first. */
  messages(): readonly SeenMessage[] {
    return this.#messages().map((message) => this.#see(message));
  }

  /** The texts of the options of a menu. */
  async optionsOf(wanted: Wanted): Promise<readonly string[]> {
    return textsOf(optionsOf((await this.#input(wanted)).at.element));
  }

  /** The options that the app offers for what is typed into an external select. */
  async suggestionsFor(wanted: Wanted, query: string): Promise<readonly string[]> {
    return textsOf(await offeredOptions(this.#world, this.#user, await this.#input(wanted), query));
  }

  /** The confirmation dialog that a button would show: title, text, buttons. */
  confirmationOf(wanted: Wanted): string | undefined {
    const dialog = objectIn(findButton(this.#surfaces(), wanted)?.at.element, 'confirm');
    return (
      dialog && ['title', 'text', 'deny', 'confirm'].map((part) => textIn(dialog[part], 'text')).join('\n')
    );
  }

  /** The addresses of all links and link buttons in sight. */
  links(): readonly string[] {
    const written = JSON.stringify(
      this.#surfaces().map((each) => [each.blocks, 'text' in each && each.text]),
    );
    return [...new Set(written.match(/https?:\/\/[^\s"\\|<>]+/g) ?? [])].map(decodeEntities);
  }

  usesGlobalShortcut(callbackId: string): Promise<Delivery> {
    return useShortcut(this.#world, this.#user, callbackId);
  }

  /** The emojis with which the app has reacted to their newest message that shows this text. */
  reactionsTo(text: string): readonly string[] {
    return this.#newest(text).reactions;
  }

  /** Uses a shortcut on the newest message that shows this text. */
  usesMessageShortcut(callbackId: string, text: string): Promise<Delivery> {
    return useShortcut(this.#world, this.#user, callbackId, this.#newest(text));
  }

  /** Opens the Home tab, or the Messages tab beside it. */
  opensHome(tab: AppTab = 'home'): Promise<Delivery | undefined> {
    this.#isHomeOpen = tab === 'home';
    return openTab(this.#world, this.#user, tab);
  }

  /** Reloads the client: ephemeral messages and open modals are gone. */
  reloads(): void {
    reload(this.#world, this.#user);
  }

  #newest(text: string): SeenMessage {
    const message = this.messages().findLast((each) => each.shown.includes(text));
    if (!message) throw new SlackRefusal('message_not_found', `No message shows ${text}`);
    return message;
  }

  #messages() {
    const { id } = getChannel(this.#world, this.#user, this.#channel);
    const visible = this.#world.messages.visibleTo(this.#user.id, id);
    return visible.filter((message) => message.order > this.#seenUpTo && isOnScreen(message, this.#threadTs));
  }

  /** What can be clicked: a modal covers all the rest. Newest first. */
  #surfaces(): readonly Surface[] {
    const modal = this.#world.views.stackOf(this.#user.id).at(-1);
    if (modal) return [modal];
    const home = this.#isHomeOpen ? this.#world.views.homeOf(this.#user.id) : undefined;
    return [...(home ? [home] : []), ...[...this.#messages()].reverse()];
  }

  #buttonAct(wanted: Wanted, confirm: boolean): (() => Promise<Delivery | undefined>) | undefined {
    const modal = this.modal();
    if (modal?.submit !== undefined && matches(modal.submit, wanted)) return () => this.submits();
    const found = findButton(this.#surfaces(), wanted);
    if (!found) return modal && matches(modal.close, wanted) ? () => this.closes() : undefined;
    const dialog = objectIn(found.at.element, 'confirm');
    if (!confirm && !dialog) throw new Error(`${String(wanted)} asks for no confirmation`);
    if (!confirm) return () => Promise.resolve(undefined);
    return () => press(this.#world, this.#user, { ...actAt(found), confirmed: true });
  }

  #input(wanted: Wanted): Promise<Found> {
    return this.#wait(() => findInput(this.#surfaces(), wanted), `an input ${String(wanted)}`);
  }

  #openModal = () => this.#wait(() => this.modal(), 'an open modal');

  /** Waits until `look` finds something: looks now, and again after everything that happens. */
  #wait<T>(look: () => T | undefined, what: string, patienceMs = PATIENCE_MS): Promise<T> {
    const seen = look();
    if (seen !== undefined) return Promise.resolve(seen);
    const complain = () => `${this.#user.name} does not see ${what}, but:\n${this.screen() || '(nothing)'}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => reject(new Error(complain()))), patienceMs);
      const stop = this.#world.journal.onEvent(() => {
        try {
          const found = look();
          if (found !== undefined) settle(() => resolve(found));
        } catch (error) {
          settle(() => reject(error));
        }
      });
      function settle(end: () => void): void {
        clearTimeout(timer);
        stop();
        end();
      }
    });
  }

  #reads(wanted: Wanted): boolean {
    const screen = this.screen();
    return typeof wanted === 'string' ? squeeze(screen).includes(squeeze(wanted)) : wanted.test(screen);
  }
}

interface Confirming {
  /** false: the user declines in the confirmation dialog. */
  readonly confirm?: boolean;
}

/** How long a user looks for something before giving up: generous, since a busy machine is slow. */
const PATIENCE_MS = 45_000;

type Surface = StoredMessage | StoredView;

/** An element that a user can reach, and where it is. */
interface Found {
  readonly at: PlacedElement;
  readonly place: PagePlace;
  readonly surface: Surface;
}

type Wanted = string | RegExp;

function matches(text: string, wanted: Wanted): boolean {
  return typeof wanted === 'string' ? text.trim() === wanted : wanted.test(text);
}

/** Finds a button by its text; the surfaces are looked through in order. */
function findButton(surfaces: readonly Surface[], wanted: Wanted): Found | undefined {
  return findIn(surfaces, ({ element }) => matches(textIn(element.text, 'text'), wanted));
}

/** Finds an input by its label, or a menu by its placeholder or the text next to it. */
function findInput(surfaces: readonly Surface[], wanted: Wanted): Found | undefined {
  const isInput = ({ element }: PlacedElement) => element.type !== 'button';
  return (
    findIn(surfaces, (at) => isInput(at) && namesOf(at).some((name) => matches(name, wanted))) ??
    findIn(surfaces, (at) => isInput(at) && typeof wanted === 'string' && textBeside(at).includes(wanted))
  );
}

/** How an element is named in an action. */
function actAt({ place, at }: Found) {
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

/** A thread shows its first message and the replies; the channel shows what is no reply. */
function isOnScreen({ ts, threadTs }: StoredMessage, openThread: string | undefined): boolean {
  if (openThread !== undefined) return ts === openThread || threadTs === openThread;
  return threadTs === undefined || threadTs === ts;
}

/** Turns what a test names (an option's text, `@operator`, `#ops`) into what Slack's client would enter. */
async function toEntered(world: World, user: User, found: Found, value: Entered): Promise<Entered> {
  if (value === null) return null;
  const { element } = found.at;
  if (element.type === 'external_select') return suggestedValue(world, user, found, value);
  if (element.type === 'users_select') return getId(world, value);
  if (element.type === 'conversations_select')
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

/** The options that the app offers for what is typed into an external select. */
async function offeredOptions(world: World, user: User, found: Found, query: string) {
  const { options, optionGroups } = await suggest(world, user, actAt(found), query);
  return optionsOf({ options, option_groups: optionGroups });
}

function textsOf(options: readonly Json[]): readonly string[] {
  return options.map((option) => textIn(option.text, 'text'));
}
