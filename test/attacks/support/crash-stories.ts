import { expect } from 'vitest';
import type { Operation } from '../../../src/purchases/operation.ts';
import type { Approval } from '../../../src/requests/request.ts';
import type { DeleteOperation } from '../../../src/servers/deletion.ts';
import { type CrashingTeam, type Stored, startCrashingTeam } from './crashing-team.ts';

/** Something that users do, over all the crashes of the app. */
export interface Story {
  readonly name: string;
  readonly isRuled: boolean;
  /** What happens before the crash points are counted: the form is open. */
  begin(team: CrashingTeam): Promise<void>;
  /** The button that confirms it. */
  readonly button: 'Create and pay' | 'Request approval' | 'Renew and pay' | 'Delete';
  /** The request that may be sent once. */
  readonly request: 'create' | 'renew' | 'delete';
  /** Where `npm test` lets it crash: after this part of its points. */
  readonly after: number;
}

const CREATE = '/vps create plan=small location=ams image=debian-13 label=web-1';

/** On a busy machine Slack gives up on the app now and then; then its user tries again. */
async function openForm(manager: CrashingTeam['manager'], command: string, button: string): Promise<void> {
  const isOpen = () => manager.modal()?.shown.includes(`[${button}]`) ?? false;
  for (let tries = 0; tries < 5 && !isOpen(); tries++) {
    await manager.types(command);
    await waitFor(async () => isOpen(), 10_000).catch(() => undefined);
  }
  if (!isOpen()) throw new Error(`the form does not open:\n${manager.screen()}`);
}

async function typeLabel({ manager }: CrashingTeam): Promise<void> {
  await openForm(manager, '/vps delete old-1', 'Delete');
  await manager.fills({ 'To confirm, type old-1': 'old-1' });
}

const create: Story = {
  name: 'create',
  isRuled: false,
  button: 'Create and pay',
  request: 'create',
  after: 0.2,
  begin: ({ manager }) => openForm(manager, CREATE, 'Create and pay'),
};

export const STORIES: readonly Story[] = [
  create,
  {
    ...create,
    name: 'lost answer',
    after: 0.35,
    begin: async (team) => {
      team.hosting.faults.add({ on: 'create', kind: 'lost_after' });
      await create.begin(team);
    },
  },
  {
    name: 'renew',
    isRuled: false,
    button: 'Renew and pay',
    request: 'renew',
    after: 0.5,
    begin: ({ manager }) => openForm(manager, '/vps renew old-1', 'Renew and pay'),
  },
  {
    ...create,
    name: 'approved create',
    after: 0.65,
    isRuled: true,
    button: 'Request approval',
    begin: ({ manager }) => openForm(manager, CREATE, 'Request approval'),
  },
  {
    name: 'delete',
    isRuled: false,
    button: 'Delete',
    request: 'delete',
    after: 0.4,
    begin: typeLabel,
  },
  {
    name: 'approved delete',
    isRuled: true,
    button: 'Delete',
    request: 'delete',
    // Once its request has left, the next process looks for the server for two minutes before it says that it can't tell:
    // deletes.test.ts has that with a clock that is moved, and the long form here.
    after: 0.6,
    begin: typeLabel,
  },
];

/** Generous: a try is over as soon as everything has settled, which takes `DOUBT_MINUTES` where nothing was sent. */
const SETTLED_WITHIN = 240_000;

/**
 * Lets the app crash at this point of the story, starts it again, and lets everything settle; then checks what has to be
 * true whatever happened. Returns the points that were passed before the crash.
 */
export async function tryCrash(story: Story, crashAt: number): Promise<readonly string[]> {
  await using team = await startCrashingTeam(crashAt, story);
  await story.begin(team);
  await team.startCounting();
  // A dead process never answers.
  const pressed = team.manager.presses(story.button).catch(() => undefined);
  const isOver = async () => team.hasEnded() || isSettled(await team.read(), story);
  await waitUntil(isOver, team, story);
  const points = await team.points();
  if (team.hasEnded()) {
    await pressed;
    await team.restart();
    // A user who saw no answer presses again.
    if (canPress(team, story.button)) await team.manager.presses(story.button).catch(() => undefined);
    await waitUntil(async () => isSettled(await team.read(), story), team, story);
  }
  try {
    await checkLaws(team, story);
  } catch (error) {
    throw new Error(`${story.name}, crash point ${crashAt} (${points.at(-1)}): ${error}`, { cause: error });
  }
  return points;
}

function canPress({ manager }: CrashingTeam, button: string): boolean {
  return manager.modal()?.shown.includes(`[${button}]`) ?? false;
}

/** The other manager approves whatever they are asked for, as often as the button is there. */
async function waitUntil(
  isOver: () => Promise<boolean>,
  { owner }: CrashingTeam,
  { name }: Story,
): Promise<void> {
  const approve = async () => {
    if (owner.screen().includes('[Approve]')) await owner.presses('Approve').catch(() => undefined);
    return isOver();
  };
  await waitFor(approve, SETTLED_WITHIN).catch(() => {
    throw new Error(`${name} does not settle:\n${owner.screen()}`);
  });
}

async function waitFor(isOver: () => Promise<boolean>, withinMs: number): Promise<void> {
  for (const until = Date.now() + withinMs; !(await isOver()); ) {
    if (Date.now() > until) throw new Error('it takes too long');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function isSettled({ operations, deletes, approvals }: Stored, { isRuled, request }: Story): boolean {
  const isTold =
    operations.every(isOperationTold) && deletes.every(isDeleteTold) && approvals.every(isApprovalTold);
  const orders = request === 'delete' ? deletes : operations;
  const isCanceled = approvals.some(({ state }) => state === 'canceled');
  return (!isRuled || approvals.length > 0) && (orders.length > 0 || isCanceled) && isTold;
}

function isDeleteTold({ endedAt, notifiedAt }: DeleteOperation): boolean {
  return notifiedAt !== undefined && endedAt !== undefined;
}

function isOperationTold({ state, needsDecision, notifiedAt }: Operation): boolean {
  return notifiedAt !== undefined && (state === 'settled' || state === 'refused' || needsDecision);
}

function isApprovalTold({ state, isNotified }: Approval): boolean {
  return isNotified && state !== 'open';
}

/** What has to be true in the end, wherever the app crashed. */
async function checkLaws(team: CrashingTeam, { request }: Story): Promise<void> {
  const { operations, deletes, passwords } = await team.read();
  const sent = team.hosting.requests({ operation: request }).length;
  expect(sent, 'requests for one confirmation').toBeLessThanOrEqual(1);
  expect(operations.filter(({ state }) => state === 'settled').length, 'paid orders').toBe(team.charges());
  for (const { state, hasPassword, serverId = 0 } of operations) {
    if (state === 'settled' && hasPassword)
      expect(passwords.get(serverId), 'the root password').toBe(team.hosting.passwordOf(serverId));
  }
  if (request === 'delete') {
    const isGone = team.servers().length === 0;
    const ends = deletes.map(({ state }) => state === 'settled');
    expect(ends, 'whether the delete is settled').toEqual(deletes.length > 0 || isGone ? [isGone] : []);
  }
  for (const { id } of team.servers()) {
    const password = team.hosting.passwordOf(id) ?? 'none';
    for (const other of team.others) other.doesNotSee(password);
  }
}
