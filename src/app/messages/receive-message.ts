import { describeDefect, Refusal } from '../../domain/errors.ts';
import type { ChangedServer } from '../../domain/message-command.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { Caller } from '../authorize/use-case.ts';
import type { MessagePorts, MessageRef, NewMessageCommand } from './ports.ts';

/** Works on a command and answers it. `onChange` has to be the caller's. */
type Work = (onChange: NonNullable<Caller['onChange']>) => Promise<void>;

/** Takes in the commands that users write in messages. */
export interface MessageIntake {
  /**
   * Stores a command in a message; undefined if one of the IDs was stored before. What is returned runs the work on it, and
   * keeps other processes from telling the user that it was interrupted.
   * @throws what the store throws; then nothing may be done
   */
  receive(
    command: NewMessageCommand,
    ids: readonly string[],
  ): Promise<((work: Work) => Promise<void>) | undefined>;
}

/** If a process dies, another one tells its users after this long. A living process renews three times as often. */
const LEASE_MS = 30_000;
const MOST_REMOVALS = 60;
const REMOVE_AGAIN_MS = 1000;

type IntakePorts = Pick<MessagePorts, 'messageCommands' | 'system' | 'log'>;

/** Builds the intake over the store. */
export function createMessageIntake(ports: IntakePorts): MessageIntake {
  const { messageCommands, system } = ports;
  return {
    receive: async (command, ids) => {
      const now = system.now();
      const times = { now, dueAt: now + LEASE_MS, keptFrom: now + DAY_MS };
      const isNew = await messageCommands.receive(command, ids, times);
      return isNew ? (work) => runMessage(command, work, ports) : undefined;
    },
  };
}

async function runMessage(ref: MessageRef, work: Work, ports: IntakePorts): Promise<void> {
  const { messageCommands, system } = ports;
  const ended = new AbortController();
  const renewing = keepRenewed(ref, ended.signal, ports);
  const servers: ChangedServer[] = [];
  const onChange = async (server?: ChangedServer): Promise<void> => {
    if (server) servers.push(server);
    const isMine = await messageCommands.begin(ref, servers, system.now() + LEASE_MS);
    // This process stood still, and another one has told the user that nothing was done.
    if (!isMine) throw new Refusal('held_up', {});
  };
  try {
    await work(onChange);
  } finally {
    await removeAnswered(ref, ports);
    ended.abort();
    await renewing;
  }
}

/** While the database is away, this is tried again: a user who has the answer must not read that the command was interrupted. */
async function removeAnswered(ref: MessageRef, { messageCommands, system, log }: IntakePorts): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await messageCommands.remove(ref);
    } catch (error) {
      if (tries === MOST_REMOVALS)
        return log.warn('an answered message could not be removed', { id: ref.id, ...describeDefect(error) });
      await system.sleep(REMOVE_AGAIN_MS);
    }
  }
}

async function keepRenewed(
  ref: MessageRef,
  ended: AbortSignal,
  { messageCommands, system, log }: IntakePorts,
): Promise<void> {
  while (!ended.aborted) {
    try {
      await system.sleep(LEASE_MS / 3, ended);
      await messageCommands.renew(ref, system.now() + LEASE_MS);
    } catch (error) {
      if (!ended.aborted)
        log.warn('a message could not be renewed', { id: ref.id, ...describeDefect(error) });
    }
  }
}
