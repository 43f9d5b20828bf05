import type { MessageCommandId, WorkspaceId } from '../../domain/ids.ts';
import type { ChangedServer, MessageCommand } from '../../domain/message-command.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { RolePorts } from '../authorize/find-roles.ts';
import type { Installations } from '../authorize/ports.ts';

/** A command as it arrives. */
export type NewMessageCommand = Omit<MessageCommand, 'receivedAt' | 'hasBegun' | 'servers'>;

export interface MessageRef {
  readonly id: MessageCommandId;
  readonly workspaceId: WorkspaceId;
}

/** A command whose lease has expired. */
export interface DueCommand extends MessageCommand {
  readonly dueAt: number;
  /** A process has begun to notify its user, and may have succeeded. */
  readonly isClaimed: boolean;
}

/**
 * Commands in messages, until they are answered. A process renews the lease of what it works on. Where a lease has expired,
 * the process has crashed or is frozen: another one claims the command, and then notifies its user.
 */
export interface MessageCommands {
  /**
   * Stores a command together with the IDs that Slack gives the message, in one transaction. False if one of them was stored
   * before: then it was handled. The IDs stay until `keptFrom`, and as long after that as other requests.
   */
  receive(
    command: NewMessageCommand,
    ids: readonly string[],
    times: { readonly now: number; readonly dueAt: number; readonly keptFrom: number },
  ): Promise<boolean>;
  /** Renews the lease; does nothing once the command was claimed. */
  renew(ref: MessageRef, dueAt: number): Promise<void>;
  /** Stores that something may be changed from now on, and of which servers. False once it was claimed or erased. */
  begin(ref: MessageRef, servers: readonly ChangedServer[], dueAt: number): Promise<boolean>;
  /** It is answered, or given up. */
  remove(ref: MessageRef): Promise<void>;
  /** Those whose lease has expired, oldest first. */
  listDue(now: number, limit: number): Promise<readonly DueCommand[]>;
  /** False if its process has renewed or begun it since it was listed, or another one has claimed it. */
  claim(listed: MessageRef & Pick<DueCommand, 'dueAt'>, dueAt: number): Promise<boolean>;
  /** Slack has proven that its user was not notified: they can be notified again from `dueAt` on. */
  release(ref: MessageRef, dueAt: number): Promise<void>;
  removeBefore(receivedAt: number): Promise<void>;
}

/** Tells users about their commands. Never throws. */
export interface MessageNotifier {
  /**
   * Tells the user, where they sent the command, that it was interrupted. `later`: Slack has proven that nothing was shown, so
   * this can be tried again. In any other case it may have been shown, and is not sent again.
   */
  tellInterrupted(command: MessageCommand): Promise<'told' | 'later'>;
}

/** What it takes to keep commands until they are answered. */
export interface MessagePorts extends RolePorts {
  readonly system: System;
  readonly log: Log;
  readonly messageCommands: MessageCommands;
  readonly messageNotifier: MessageNotifier;
  readonly installations: Installations;
}
