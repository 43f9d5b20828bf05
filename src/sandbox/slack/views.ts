import { LIMITS } from './block-kit/limits.ts';
import { type EnteredValues, nameBlocks, pruneEntered, valuesOf } from './entered.ts';
import type { Journal } from './journal.ts';
import { isJson, textIn } from './json.ts';
import type { StoredMessage } from './messages.ts';
import type { Json, Texts } from './page-api.ts';
import { WebApiError } from './refusal.ts';
import { APP, TEAM } from './workspace.ts';
import type { Ids, SlackClock } from './world.ts';

export interface StoredView {
  readonly id: string;
  readonly user: string;
  readonly type: 'modal' | 'home';
  /** What the app sent, blocks aside. */
  readonly fields: Json;
  readonly blocks: readonly Json[];
  readonly hash: string;
  readonly rootId: string;
  readonly previousId: string | undefined;
  readonly entered: EnteredValues;
  readonly errors: Texts;
  readonly trouble: string | undefined;
}

/** What elements are in. */
export type Place = StoredMessage | StoredView;

export class Views {
  readonly #ids: Ids;
  readonly #journal: Journal;
  readonly #stacks = new Map<string, readonly StoredView[]>();
  readonly #homes = new Map<string, StoredView>();

  constructor(ids: Ids, journal: Journal) {
    this.#ids = ids;
    this.#journal = journal;
  }

  /** Opens a modal; one that was open before is gone. */
  open(user: string, view: unknown): StoredView {
    const opened = this.#make(user, view, undefined);
    this.#setStack(user, [opened]);
    return opened;
  }

  /** @throws WebApiError push_limit_reached, view_not_found */
  push(user: string, view: unknown): StoredView {
    const stack = this.stackOf(user);
    const top = stack.at(-1);
    if (!top) throw new WebApiError('not_found');
    if (stack.length >= LIMITS.viewStack) throw new WebApiError('push_limit_reached');
    const pushed = this.#make(user, view, top);
    this.#setStack(user, [...stack, pushed]);
    return pushed;
  }

  publish(user: string, view: unknown): StoredView {
    const known = this.#homes.get(user);
    const home = known ? this.#renew(known, view) : this.#make(user, view, undefined);
    this.#homes.set(user, home);
    this.#journal.emit({ type: 'home', user });
    return home;
  }

  update(view: StoredView, fields: unknown): StoredView {
    const renewed = this.#renew(view, fields);
    this.#replace(renewed);
    return renewed;
  }

  /** Sets what the view shows below its inputs, and why it can't go on. */
  complain(view: StoredView, errors: Texts, trouble?: string): void {
    const current = this.find(view.id);
    if (current) this.#replace({ ...current, errors, trouble });
  }

  close(view: StoredView, all = false): void {
    const stack = this.stackOf(view.user);
    const at = stack.findIndex(({ id }) => id === view.id);
    if (at >= 0) this.#setStack(view.user, all ? [] : stack.slice(0, at));
  }

  /** Open modals of a user, the visible one last. */
  stackOf(user: string): readonly StoredView[] {
    return this.#stacks.get(user) ?? [];
  }

  homeOf(user: string): StoredView | undefined {
    return this.#homes.get(user);
  }

  find(id: string): StoredView | undefined {
    const all = [...this.#stacks.values()].flat().concat([...this.#homes.values()]);
    return all.find((view) => view.id === id);
  }

  #make(user: string, view: unknown, previous: StoredView | undefined): StoredView {
    const id = this.#ids.id('V');
    return {
      id,
      user,
      type: textIn(view, 'type') === 'home' ? 'home' : 'modal',
      ...this.#contentOf(view),
      rootId: previous?.rootId ?? id,
      previousId: previous?.id,
      entered: new Map(),
      errors: {},
      trouble: undefined,
    };
  }

  #renew(view: StoredView, fields: unknown): StoredView {
    const content = this.#contentOf(fields);
    pruneEntered(content.blocks, view.entered);
    return { ...view, ...content, errors: {}, trouble: undefined };
  }

  #contentOf(view: unknown): Pick<StoredView, 'fields' | 'blocks' | 'hash'> {
    const { blocks, ...fields }: Json = isJson(view) ? view : {};
    return {
      fields: structuredClone(fields),
      blocks: nameBlocks(blocks, this.#ids),
      hash: `${this.#ids.ts().split('.')[0]}.${this.#ids.secret().slice(0, 8)}`,
    };
  }

  #replace(view: StoredView): void {
    if (view.type === 'home') {
      this.#homes.set(view.user, view);
      this.#journal.emit({ type: 'home', user: view.user });
      return;
    }
    const stack = this.stackOf(view.user).map((each) => (each.id === view.id ? view : each));
    this.#setStack(view.user, stack);
  }

  #setStack(user: string, stack: readonly StoredView[]): void {
    this.#stacks.set(user, stack);
    this.#journal.emit({ type: 'views', user });
  }
}

/** A view as Slack writes it in payloads and answers; in payloads, its team is the submitter's. */
export function describeView(
  view: StoredView,
  teamId: string = TEAM.id,
  installedId: string = TEAM.id,
): Json {
  const { fields } = view;
  return {
    id: view.id,
    team_id: teamId,
    type: view.type,
    blocks: view.blocks,
    private_metadata: textIn(fields, 'private_metadata'),
    callback_id: textIn(fields, 'callback_id'),
    state: { values: valuesOf(view.blocks, view.entered) },
    hash: view.hash,
    ...(view.type === 'home'
      ? {}
      : { title: fields.title ?? { type: 'plain_text', text: 'View Title', emoji: true } }),
    clear_on_close: false,
    notify_on_close: false,
    close: fields.close ?? null,
    submit: fields.submit ?? null,
    previous_view_id: view.previousId ?? null,
    root_view_id: view.rootId,
    app_id: APP.id,
    external_id: '',
    app_installed_team_id: installedId,
    bot_id: APP.botId,
  };
}

/** A trigger is valid for this long (Slack's "Trigger IDs" section of the modals page). */
const LIFETIME_MS = 3000;

/** Trigger ids: each opens one view, within 3 s. */
export function createTriggers(clock: SlackClock, ids: Ids) {
  const triggers = new Map<string, { user: string; madeAt: number; used: boolean }>();
  return {
    create(user: string): string {
      const id = `${clock.now()}.${triggers.size + 1}.${ids.secret()}`;
      triggers.set(id, { user, madeAt: clock.now(), used: false });
      return id;
    },

    /**
     * Uses up a trigger and returns whose it is.
     * @throws WebApiError invalid_trigger_id, exchanged_trigger_id, expired_trigger_id
     */
    use(id: string): string {
      const trigger = triggers.get(id);
      if (!trigger) throw new WebApiError('invalid_trigger_id');
      if (trigger.used) throw new WebApiError('exchanged_trigger_id');
      if (clock.now() - trigger.madeAt > LIFETIME_MS) throw new WebApiError('expired_trigger_id');
      trigger.used = true;
      return trigger.user;
    },
  };
}
