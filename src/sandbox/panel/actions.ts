import { z } from 'zod';
import type { Account } from '../hosting/accounts.ts';
import type { FaultRule } from '../hosting/faults.ts';
import type { HostingService } from '../hosting/hosting.ts';
import type { FaultPreset, PanelResult } from './panel-api.ts';

const id = z.int().nonnegative();
const text = z.string().max(100);

const actionSchema = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('top_up'), amountMinor: z.int().positive() }),
  /** The key is in this one answer and never again. */
  z.strictObject({ do: z.literal('create_key') }),
  z.strictObject({ do: z.literal('revoke_key'), key: id }),
  z.strictObject({ do: z.literal('add_fault'), preset: text }),
  z.strictObject({ do: z.literal('remove_fault'), fault: id }),
  z.strictObject({ do: z.literal('skip_time'), step: z.enum(['hour', 'day', 'month']) }),
  /** Twenty running servers, free. */
  z.strictObject({ do: z.literal('seed_servers') }),
  /** As if the hosting company had: the app isn't notified. */
  z.strictObject({ do: z.literal('delete_server'), server: id }),
]);

export type PanelAction = z.output<typeof actionSchema>;

export function parseAction(value: unknown): PanelAction | undefined {
  return actionSchema.safeParse(value).data;
}

/** Performs an action. Money effect: a top-up adds to the balance; nothing here charges. */
export function performAction(hosting: HostingService, account: Account, action: PanelAction): PanelResult {
  const { accounts, clock, faults } = hosting;
  switch (action.do) {
    case 'top_up':
      accounts.topUp(account, action.amountMinor);
      return { ok: true };
    case 'create_key':
      return { ok: true, key: hosting.createKey(account) };
    case 'revoke_key':
      if (!accounts.listKeys(account).some(({ id }) => id === action.key))
        return refuse('unknown', 'There is no such key.');
      accounts.revokeKey(account, action.key);
      return { ok: true };
    case 'add_fault':
      return addFault(hosting, account, action.preset);
    case 'remove_fault':
      faults.remove(action.fault);
      return { ok: true };
    case 'skip_time':
      if (action.step === 'month') clock.advanceMonth();
      else clock.advance(action.step === 'day' ? 24 * HOUR_MS : HOUR_MS);
      return { ok: true };
    case 'seed_servers':
      seedServers(hosting, account);
      return { ok: true };
    case 'delete_server':
      if (!hosting.listServers(account).some(({ id }) => id === action.server))
        return refuse('unknown', 'This server no longer exists.');
      hosting.servers.remove(account, String(action.server));
      return { ok: true };
  }
}

const HOUR_MS = 3_600_000;

function addFault(hosting: HostingService, account: Account, wanted: string): PanelResult {
  const preset = PRESETS.find((each) => each.id === wanted);
  if (!preset) return refuse('unknown', 'There is no such fault.');
  const isOnForGood = hosting.faults
    .list()
    .some(({ rule }) => rule.times === 'always' && findPresetOf(rule) === preset);
  if (!isOnForGood) hosting.faults.add({ ...preset.rule, accountId: account.id });
  return { ok: true };
}

const SEEDED = 20;
const PREFIXES = ['web', 'db', 'cache', 'mail'];

/** Labels that are not there yet: two servers of one label would make every command ask which one is meant. */
function seedServers(hosting: HostingService, account: Account): void {
  const labels = hosting.listServers(account).map(({ label }) => label);
  const isFree = (prefix: string) => !labels.some((label) => label.startsWith(`${prefix}-`));
  const prefix = PREFIXES.find(isFree) ?? `batch-${labels.length}`;
  hosting.seedServers(account, SEEDED, prefix);
}

function refuse(error: string, words: string): PanelResult {
  return { ok: false, error, words };
}

interface Preset extends FaultPreset {
  readonly rule: FaultRule;
}

/** The faults of the panel, by what a user will see. To add one, add a line here. */
export const PRESETS: readonly Preset[] = [
  {
    id: 'lose_answer',
    title: 'Drop the next response (the order still goes through)',
    hint: 'The next create or renewal is carried out and charged, but the app gets no response.',
    rule: { on: 'paid', kind: 'lost_after' },
  },
  {
    id: 'lose_order',
    title: 'Drop the next order before it arrives',
    hint: 'The next create or renewal gets no response, and nothing is charged.',
    rule: { on: 'paid', kind: 'lost_before' },
  },
  {
    id: 'slow',
    title: 'Slow responses (10 s)',
    hint: 'Everything works, but slowly. Users see that it takes a while.',
    rule: { on: 'any', kind: 'slow', delayMs: 10_000, times: 'always' },
  },
  {
    id: 'no_balance',
    title: 'Insufficient balance',
    hint: 'The next create or renewal is refused, and nothing is charged.',
    rule: { on: 'paid', kind: 'error', code: 'not_enough_balance' },
  },
  {
    id: 'checking_completes',
    title: 'The hosting company confirms late: server created',
    hint: 'The next server is charged and appears after 20 s. Its root password is never shown.',
    rule: { on: 'create', kind: 'checking_completes', afterMs: 20_000 },
  },
  {
    id: 'checking_refunds',
    title: 'The hosting company confirms late: refunded',
    hint: 'The next server is charged, then refunded after 20 s.',
    rule: { on: 'create', kind: 'checking_refunds', afterMs: 20_000 },
  },
  {
    id: 'garbage',
    title: 'Invalid responses',
    hint: 'The order goes through, but the response is garbled.',
    rule: { on: 'any', kind: 'garbage', times: 'always' },
  },
  {
    id: 'too_many',
    title: 'Too many requests (rate limit)',
    hint: 'Every request is refused. The app waits and retries automatically.',
    rule: { on: 'any', kind: 'error', code: 'rate_limited', times: 'always' },
  },
  {
    id: 'down',
    title: 'API down (HTTP 500)',
    hint: 'Every request fails with status 500, and nothing is done.',
    rule: { on: 'any', kind: 'status_500', times: 'always' },
  },
];

/** Finds the preset that a rule was made from, whichever account it is for. */
export function findPresetOf({ on, kind, code }: FaultRule): Preset | undefined {
  return PRESETS.find(({ rule }) => rule.on === on && rule.kind === kind && rule.code === code);
}
