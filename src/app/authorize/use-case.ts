import type { Actor, Role } from '../../domain/actor.ts';
import type { AuditAction } from '../../domain/audit-action.ts';
import type { AuditCode } from '../../domain/audit-code.ts';
import type { AuditSubject, Surface } from '../../domain/audit-entry.ts';
import type { WorkflowKeyId } from '../../domain/ids.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { AppContext } from '../ports.ts';

/** One thing that users can do with this app, from any surface. */
export interface UseCase<Input, Output> {
  /** Its name in the audit. */
  readonly name: AuditAction;
  readonly needs: Role | 'anyone';
  /**
   * `reads` is audited only when it is denied. `changes` is audited before and after, and refused when the same signed
   * request was handled before. `confirms` only writes a confirmation before the ack: its ID prevents a repetition
   * (docs/design.md 4.1).
   */
  readonly effect: 'reads' | 'changes' | 'confirms';
  /** It calls `beforeChange` itself, once it knows the server. Otherwise the entry does that for what doesn't only read. */
  readonly announcesChange?: true;
  /** What it is about, from the input alone: audited even if the process dies before the outcome. */
  subject?(input: Input): AuditSubject;
  run(input: Input, context: UseCaseContext): Promise<Output>;
  /** While the store fails, its user must not order again: an earlier press of the same form may go through. */
  readonly isOrder?: boolean;
  /** As with `confirms`, an earlier press of the same form may be doing it. */
  readonly isOncePerForm?: boolean;
  /** What follows from the act, such as sending a payment. The entry starts it, so that no surface can forget it. */
  readonly follow?: (output: Output, context: FollowUpContext) => Promise<void>;
}

/** What authorization looks at, whatever the input and the output are. */
export type UseCaseSpec = Pick<
  UseCase<never, unknown>,
  'name' | 'needs' | 'effect' | 'isOrder' | 'isOncePerForm'
>;

/** Who sent a request, and how it reached us. */
export interface Caller {
  readonly actor: Actor;
  readonly surface: Surface;
  /** The workflow key that a workflow came with; absent where it came with none of this workspace. */
  readonly workflowKeyId?: WorkflowKeyId | undefined;
  /** Unique for each signed request; absent where nothing can be replayed (the app's own pages, the command line). */
  readonly requestId?: string;
  /** Resolves when the request has been answered: Slack must get its ack before any follow-up starts. */
  readonly answered?: Promise<void>;
  /**
   * Called before anything is changed. Nothing is changed before this call, nor if it rejects.
   */
  readonly onChange?: () => Promise<void>;
  /** Called when the hosting API returns only part of the list of servers, so that every surface can say so. */
  readonly onPartOfList?: () => void;
}

/** What a use case works with. */
export interface UseCaseContext {
  readonly actor: Actor;
  readonly app: AppContext;
  /** @throws Refusal `no_api_key` when the workspace has none yet */
  hosting(): Promise<HostingApi>;
  /** Whether the actor holds the role that this use case needs for the server with that label (docs/design.md 3). */
  covers(label: string): boolean;
  /** Whether the actor holds that role for all servers, whatever their labels. */
  readonly coversEveryServer: boolean;
  /**
   * `typed` is how the actor named the server: a refusal tells the label only to those who know it or may see it.
   * @throws Refusal `role_needed`, or `identity_unknown` when Slack did not answer; audited as denied
   */
  requireRoleFor(label: string, typed?: string): Promise<void>;
  /** Adds to what the audit says this act is about. */
  setSubject(subject: AuditSubject): void;
  /** Has to be called right before a server is changed, by use cases that say so. @throws what the caller's `onChange` throws */
  beforeChange(): Promise<void>;
  /** Makes the audit say that the outcome is unknown, and why. */
  setUnconfirmed(code: AuditCode): void;
}

/** What a follow-up works with; the request may have ended long ago. */
export type FollowUpContext = Pick<UseCaseContext, 'actor' | 'app'>;

/** Exists for type inference only. */
export function defineUseCase<Input, Output>(useCase: UseCase<Input, Output>): UseCase<Input, Output> {
  return useCase;
}
