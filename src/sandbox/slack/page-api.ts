/**
 * The contract between the local Slack and its page in the browser. Types only: the page's author may
 * import them (`import type`), and nothing else of this folder.
 *
 * GET  /page/state?as=U…   -> PageState                      everything that user can see
 * GET  /page/live?as=U…    -> server-sent events, PageEvent  `data:` is the whole event
 * POST /page/do            PageAction -> PageResult          what that user does (JSON body)
 *
 * Host must be a loopback name; a POST from another origin is refused with 403.
 */

/** A JSON object whose shape is Slack's; blocks and views are handed on as the app sent them. */
export type Json = Record<string, unknown>;

/** Texts by name: headers, fields, errors. */
export type Texts = Readonly<Record<string, string>>;

export interface PageUser {
  readonly id: string;
  /** The handle after the @; also the name in `slack.as(name)`. */
  readonly name: string;
  readonly realName: string;
  readonly teamId: string;
  /** A workspace admin of Slack's own. */
  readonly isAdmin: boolean;
  /** A guest (multi-channel). */
  readonly isRestricted: boolean;
  /** A user of another organization, here through Slack Connect. */
  readonly isExternal: boolean;
  readonly isBot: boolean;
  /** The account was deactivated; the name stays in the user's messages. */
  readonly isDeactivated: boolean;
  /** Words for the page: "manager", "guest" … */
  readonly title: string;
  /** The IANA name in their profile; absent: UTC. */
  readonly timeZone?: string;
}

/** A user group, for `<!subteam^S…>`. */
export interface PageGroup {
  /** Slack id, `S…`. */
  readonly id: string;
  readonly handle: string;
  readonly name: string;
}

/** What is the same for everybody. */
export interface MessageContent {
  readonly channel: string;
  readonly ts: string;
  /** The author's id; the app's bot user for the app, `USLACKBOT` for Slack's own notices. */
  readonly user: string;
  /** The notification text. Shown only when there are no blocks. */
  readonly text: string;
  /** Block Kit blocks, each with a block_id, each element with an action_id. Empty for plain messages. */
  readonly blocks: readonly Json[];
  /** Attachments of older integrations, such as alert tools. */
  readonly attachments: readonly Json[];
  readonly edited: boolean;
  /** Names of emojis with which the app has reacted. */
  readonly reactions: readonly string[];
  readonly threadTs?: string | undefined;
}

export interface PageMessage extends MessageContent {
  /** Only this user sees it ("Only visible to you"), until a reload. */
  readonly ephemeral: boolean;
  /** What was entered into the inputs of this message by this user: block_id -> action_id -> Slack's state value. */
  readonly values: PageValues;
  /** Who would be notified by name: `@channel`, `@owner` … */
  readonly pings: readonly string[];
}

/** `state.values` as Slack writes it. */
export type PageValues = Readonly<Record<string, Readonly<Record<string, Json>>>>;

export interface PageChannel {
  readonly id: string;
  /** Without the #; for the conversation with the app, the app's name. */
  readonly name: string;
  readonly kind: 'public' | 'private' | 'shared' | 'dm';
  readonly hasApp: boolean;
  readonly members: readonly string[];
  /** Oldest first, ephemerals among them. */
  readonly messages: readonly PageMessage[];
}

export interface PageView {
  readonly id: string;
  readonly hash: string;
  readonly title: string;
  /** Absent: the modal has no such button. */
  readonly submit?: string;
  readonly close: string;
  readonly blocks: readonly Json[];
  readonly values: PageValues;
  /** Errors below inputs, by block_id; from the app or from Slack itself. */
  readonly errors: Texts;
  /** "We had some trouble connecting. Try again?", when the app did not acknowledge. */
  readonly trouble?: string;
}

interface PageCommand {
  readonly command: string;
  readonly description: string;
  readonly usageHint: string;
}

export interface PageShortcut {
  readonly callbackId: string;
  readonly name: string;
  readonly type: 'global' | 'message';
}

export interface TrafficEntry {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly tookMs: number;
  /** Who sent the request. */
  readonly from: 'slack' | 'app';
  /** "command /vps list", "block_actions", "chat.postMessage", "response_url" … */
  readonly what: string;
  /** Bodies as sent; tokens, signatures and response_url secrets are replaced by `[masked]`. */
  readonly request: string;
  readonly status: number | null;
  readonly response: string;
}

/** Something that a good app never does. */
export interface BrokenRule {
  readonly at: number;
  /** `late_ack`, `bad_ack`, `limits`, `missing_scope`, `expired_trigger`, `reply_url_used_up` … */
  readonly rule: string;
  readonly words: string;
}

export interface PageState {
  readonly team: { readonly name: string };
  readonly app: { readonly name: string };
  readonly as: PageUser;
  readonly people: readonly PageUser[];
  readonly groups: readonly PageGroup[];
  readonly commands: readonly PageCommand[];
  readonly shortcuts: readonly PageShortcut[];
  /** The channels this user is in, then the conversation with the app. */
  readonly channels: readonly PageChannel[];
  /** Open modals, the visible one last. */
  readonly views: readonly PageView[];
  readonly home: PageView | null;
  /** The last 200. */
  readonly traffic: readonly TrafficEntry[];
  readonly brokenRules: readonly BrokenRule[];
}

export type { AtElement, PageAction, PagePlace } from './page-actions.ts';

/**
 * What was entered: text for text inputs, an option's `value` for selects, IDs for menus of users and channels, null to clear.
 * Buttons take none.
 */
export type Entered = string | null;

export type PageResult =
  | {
      readonly ok: true;
      /** For `suggest`: Slack option objects. */
      readonly options?: readonly Json[];
      readonly optionGroups?: readonly Json[];
    }
  | {
      readonly ok: false;
      /** `confirm_needed`, `invalid_input`, `not_in_channel`, `no_such_element`, `view_closed` … */
      readonly error: string;
      readonly words: string;
      /** With `invalid_input`: by block_id; also on the view. */
      readonly errors?: Texts;
    };

/** Only events that this user may see arrive. After reconnecting, read /page/state again. */
export type PageEvent =
  | { readonly type: 'message' | 'message_changed'; readonly message: PageMessage }
  | { readonly type: 'message_deleted'; readonly channel: string; readonly ts: string }
  /** The whole stack after a modal was opened, updated, pushed or closed; empty when none is open. */
  | { readonly type: 'views'; readonly views: readonly PageView[] }
  | { readonly type: 'home'; readonly view: PageView }
  | { readonly type: 'traffic'; readonly entry: TrafficEntry }
  | { readonly type: 'broken_rule'; readonly rule: BrokenRule }
  /** What is shown beside the chat has changed. */
  | { readonly type: 'panel' }
  /** Read /page/state again. */
  | { readonly type: 'reload' };
