import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultRule } from '../../src/sandbox/hosting/faults.ts';
import type { SoakTeam } from './soak-team.ts';

type Misfortune = (team: SoakTeam) => Promise<void>;

/** How often each misfortune struck. */
export type Struck = Map<string, number>;

async function killProcess({ processes, dice }: SoakTeam): Promise<void> {
  const app = dice.pick(processes.running());
  if (app) await processes.kill(app);
}

async function stopProcess({ processes, dice }: SoakTeam): Promise<void> {
  const app = dice.pick(processes.running());
  if (app) await processes.stop(app);
}

async function freezeProcess({ processes, dice }: SoakTeam): Promise<void> {
  const app = dice.pick(processes.running());
  if (app) await processes.freeze(app, 500 + dice.number(3000));
}

/** Longer than any lease: others take its work over while it is still alive. */
async function freezeForLong({ processes, dice }: SoakTeam): Promise<void> {
  const app = dice.pick(processes.running());
  if (app) await processes.freeze(app, 65_000);
}

async function crashPostgres({ postgres }: SoakTeam): Promise<void> {
  await postgres.crash();
}

async function restartPostgres({ postgres }: SoakTeam): Promise<void> {
  await postgres.restart();
}

const FAULTS: readonly FaultRule[] = [
  { on: 'paid', kind: 'lost_after' },
  { on: 'paid', kind: 'lost_before' },
  { on: 'paid', kind: 'hang' },
  { on: 'paid', kind: 'slow', delayMs: 700 },
  { on: 'paid', kind: 'status_500' },
  { on: 'paid', kind: 'status_500_after' },
  { on: 'create', kind: 'checking_completes', afterMs: 2000 },
  { on: 'create', kind: 'checking_refunds', afterMs: 2000 },
  { on: 'create', kind: 'error', code: 'limit' },
  { on: 'delete', kind: 'lost_after' },
  { on: 'delete', kind: 'slow', delayMs: 700 },
  { on: 'servers', kind: 'slow', delayMs: 500 },
  { on: 'servers', kind: 'status_500' },
  { on: 'reboot', kind: 'lost_after' },
];

async function breakHosting({ hosting, dice }: SoakTeam): Promise<void> {
  const rule = dice.pick(FAULTS);
  if (rule) hosting.faults.add(rule);
}

/** In a short run each of them strikes, in this order. */
const SHORT: readonly Misfortune[] = [
  breakHosting,
  killProcess,
  breakHosting,
  crashPostgres,
  breakHosting,
  stopProcess,
  killProcess,
];

/** A process lives for about two minutes: longer than the slots of the rate limit take to come back from a dead one. */
const LONG: readonly Misfortune[] = [
  ...Array.from({ length: 24 }, () => breakHosting),
  ...[killProcess, killProcess, stopProcess, stopProcess, freezeProcess, freezeProcess],
  ...[crashPostgres, restartPostgres, freezeForLong],
];

const LONG_PAUSE_MS = 3500;
const RESTARTS: readonly Misfortune[] = [crashPostgres, restartPostgres];

/** Lets misfortunes strike until the time is over. */
export async function strike(
  team: SoakTeam,
  { untilMs, isLong }: { readonly untilMs: number; readonly isLong: boolean },
): Promise<Struck> {
  const struck: Struck = new Map();
  const { dice } = team;
  const pauseMs = isLong ? LONG_PAUSE_MS : (untilMs - Date.now()) / (SHORT.length + 1);
  const under: Promise<void>[] = [];
  for (let turn = 0; Date.now() < untilMs - pauseMs / 2; turn++) {
    await sleep(isLong ? dice.number(2 * pauseMs) : pauseMs);
    const misfortune = isLong ? dice.pick(LONG) : SHORT[turn];
    if (!misfortune) break;
    struck.set(misfortune.name, (struck.get(misfortune.name) ?? 0) + 1);
    const ended = misfortune(team);
    // The rest goes on while a process stops or stands still; one restart of PostgreSQL comes after the other.
    if (RESTARTS.includes(misfortune)) await ended;
    else under.push(ended);
  }
  await Promise.all(under);
  team.hosting.faults.clear();
  return struck;
}
