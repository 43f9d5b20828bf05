import type { Caller, Entry, UseCase, UseCaseSpec } from '../../app/authorize/use-case.ts';
import type { Services } from '../../app/services.ts';
import type { Role } from '../../domain/actor.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Message } from '../kit/blocks.ts';
import type { SlackApi } from './slack-api.ts';

/** What every request from Slack is handled with. */
export interface Workbench {
  readonly services: Services;
  readonly entry: Entry;
  readonly slack: SlackApi;
  readonly currency: string;
  readonly publicUrl: string | undefined;
  /** Modals that show the progress of a payment, by operation: told the outcome while they are open. */
  readonly openViews: OpenViews;
}

export interface OpenViews {
  set(operationId: string, viewId: string): void;
  take(operationId: string): string | undefined;
}

/** One command, press, choice or submission of one person. */
export interface SlackRequest {
  readonly bench: Workbench;
  readonly caller: Caller;
  readonly reply: Reply;
  /** Opens one modal within 3 s; absent where Slack gives none. */
  readonly triggerId?: string;
  /** Goes through the entry as this person. */
  execute<Input, Output>(useCase: UseCase<Input, Output>, input: Input): Promise<Output>;
  /** Only asks at the entry, without doing anything: before a form is opened. @throws Refusal as `enter` does */
  authorize(useCase: UseCaseSpec): Promise<void>;
  role(): Promise<Role | undefined>;
  /** Puts an error into words; one that nobody expected gets an incident id, here and in the log. */
  explain(error: unknown): string;
  /** The same request as one of several acts that it asks for: each is carried out once. */
  subrequest(place: number): SlackRequest;
}

/** The ways back to the person. Each tells whether Slack took it. */
export interface Reply {
  /** To this person only. */
  send(message: Message): Promise<boolean>;
  /** In place of the message whose button was pressed; told anew where that can't be done. */
  replace(message: Message): Promise<boolean>;
  /** Deletes the message whose button was pressed. */
  delete(): Promise<boolean>;
  /** To everybody in the channel. */
  announce(message: Message): Promise<boolean>;
  /** The reply path itself, to be kept sealed for later; absent for modals. */
  readonly url?: Secret<string>;
}
