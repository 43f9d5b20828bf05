import type { KnownBlock, ModalView } from '@slack/types';
import type { Caller, UseCase, UseCaseSpec } from '../../app/authorize/use-case.ts';
import type { Role } from '../../domain/actor.ts';
import type { Card } from '../../domain/decision.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Message } from '../kit/blocks.ts';
import type { Origin } from '../kit/origin.ts';
import type { SlackAnswer } from './slack-api.ts';

/**
 * One command, press, choice or submission of one user, and all that a feature may work with: the entry, the ways back to
 * the user, and what it renders with. There is no way from here to the store or to Slack's API.
 */
export interface SlackRequest {
  readonly caller: Caller;
  readonly reply: Reply;
  readonly views: Views;
  readonly note: PartNote;
  /** The open modal whose button was pressed. */
  readonly modal?: {
    readonly viewId: string;
    readonly origin: Origin;
    /** It shows a card: the forms of its buttons take its place. */
    readonly isCard?: boolean;
  };
  /** The Home tab whose button was pressed. */
  readonly home?: {
    /** Shows it again with what is true now. True when Slack took it. */
    show(shown: { readonly page?: number; readonly isFresh?: boolean }): Promise<boolean>;
  };
  /** What prices are in; empty when the operator has not said. */
  readonly currency: string;
  /** The hosting account's page; undefined when the operator has not said. */
  readonly accountUrl: string | undefined;
  /** The app's own address; undefined when it has none. */
  readonly publicUrl: string | undefined;
  /** Runs a use case through the entry, as this user. @throws Refusal, HostingError */
  execute<Input, Output>(useCase: UseCase<Input, Output>, input: Input): Promise<Output>;
  /** Only checks the permission, before a form is opened. @throws Refusal as `execute` does */
  authorize(useCase: UseCaseSpec): Promise<void>;
  /** The user's highest role here, whatever servers it is for. */
  findRole(): Promise<Role | undefined>;
  /** Puts an error into words; an unexpected one gets an incident ID, here and in the log. */
  explain(error: unknown): string;
  /** The same request as one of several acts that it asks for: each of them is carried out once. */
  subrequest(place: number): SlackRequest;
  /** Announces what this user did ("rebooted `web-1`", escaped mrkdwn); undefined where nothing is announced. */
  announce(action: string, ...more: KnownBlock[]): Promise<Announcement | undefined>;
  /**
   * Lets the background tell how a followed act ends: in place of what the channel was told, if it was and that can be
   * edited, and otherwise to this user. `told`: the user knows how it ended.
   */
  placeAct(actId: string, announced: Announcement | 'told' | undefined): Promise<void>;
  /** Epoch milliseconds. */
  now(): number;
  /** The result if it comes before Slack wants its answer; undefined if it does not. */
  withTimeout<Result>(work: Promise<Result>): Promise<Result | undefined>;
}

/** Once the hosting API has returned only part of the list, says so in everything that this request shows its user. */
export interface PartNote {
  inView(view: ModalView): ModalView;
  /** Sends the note by itself if the user has been shown nothing with it: the outcome may only have been announced. */
  sayUnsaid(reply: Reply): Promise<void>;
}

/** What was announced in the channel. */
export interface Announcement {
  /** The message; absent where it can't be edited. */
  readonly message?: Card;
}

/** The ways back to the user. Each tells whether Slack took the message. */
export interface Reply {
  /** To this user only. */
  send(message: Message): Promise<boolean>;
  /** In place of the message whose button was pressed; as a new message where that is not possible. */
  replace(message: Message): Promise<boolean>;
  /** In place of the message whose button was pressed, or not at all. Not for commands: Slack might post a new message. */
  edit(message: Message): Promise<boolean>;
  /** Deletes the message whose button was pressed. */
  delete(): Promise<boolean>;
  /** To everyone in the channel. */
  announce(message: Message): Promise<boolean>;
  /** The reply path itself, to be stored sealed for later; absent for modals. */
  readonly url?: Secret<string>;
}

/** Whether Slack opened a modal. The trigger may have expired, messages have none, and Slack may refuse the view or not answer. */
export type OpenedView =
  | { readonly ok: true; readonly viewId: string }
  | { readonly ok: false; readonly why: 'too_late' | 'no_trigger' | 'refused' | 'unanswered' };

/** The modals of this user. */
export interface Views {
  /** Opens a modal with the request's trigger, which lives 3 s. */
  open(view: ModalView): Promise<OpenedView>;
  update(viewId: string, view: ModalView): Promise<SlackAnswer>;
  /**
   * Stores where a form is opened, with its reply path, and returns the part that its modal carries. An ID is given for a
   * form that is no modal.
   */
  storeOrigin(formId?: ConfirmationId): Promise<Origin>;
  /** Shows the outcome of a confirmation in this modal, for as long as it is open. */
  follow(id: ConfirmationId, viewId: string): void;
}
