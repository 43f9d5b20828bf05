import { z } from 'zod';
import type { Account } from '../hosting/accounts.ts';
import { ApiError } from '../hosting/errors.ts';
import type { HostingService } from '../hosting/hosting.ts';
import { changePrice, FormProblem, skipTime, topUp } from '../hosting/page/forms.ts';
import type { PanelAction, PanelResult } from './panel-api.ts';
import { findPresetOf, PRESETS } from './presets.ts';

const id = z.int().nonnegative();
const text = z.string().max(100);

const actionSchema = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('top_up'), amount: text }),
  z.strictObject({ do: z.literal('create_key') }),
  z.strictObject({ do: z.literal('revoke_key'), key: id }),
  z.strictObject({ do: z.literal('add_fault'), preset: text }),
  z.strictObject({ do: z.literal('remove_fault'), fault: id }),
  z.strictObject({ do: z.literal('set_price'), plan: text, price: text }),
  z.strictObject({ do: z.literal('skip_time'), step: z.enum(['hour', 'day', 'month']) }),
  z.strictObject({ do: z.literal('seed_servers') }),
  z.strictObject({ do: z.literal('delete_server'), server: id }),
]);

/** Parses an action of the page; undefined if it is not valid. */
export function parseAction(value: unknown): PanelAction | undefined {
  return actionSchema.safeParse(value).data;
}

/** Performs an action. Money effect: a top-up adds to the balance; nothing here charges. */
export function performAction(hosting: HostingService, account: Account, action: PanelAction): PanelResult {
  try {
    return carryOut(hosting, account, action);
  } catch (error) {
    if (error instanceof FormProblem) return refuse('invalid_amount', error.message);
    if (error instanceof ApiError && error.code === 'not_allowed')
      return refuse('no_top_up', 'Top up first. Then you can create API keys.');
    if (error instanceof ApiError && error.code === 'not_found')
      return refuse('unknown', 'This server no longer exists.');
    throw error;
  }
}

function carryOut(hosting: HostingService, account: Account, action: PanelAction): PanelResult {
  switch (action.do) {
    case 'top_up':
      topUp(hosting, account, new URLSearchParams({ amount: action.amount }));
      return { ok: true };
    case 'create_key':
      return { ok: true, key: hosting.createKey(account) };
    case 'revoke_key':
      return revokeKey(hosting, account, action.key);
    case 'add_fault':
      return addFault(hosting, account, action.preset);
    case 'remove_fault':
      hosting.faults.remove(action.fault);
      return { ok: true };
    case 'set_price':
      if (!hosting.prices.findPlan(action.plan)) return refuse('unknown', 'There is no such plan.');
      changePrice(hosting, new URLSearchParams({ plan: action.plan, price: action.price }));
      return { ok: true };
    case 'skip_time':
      skipTime(hosting, new URLSearchParams({ step: action.step }));
      return { ok: true };
    case 'seed_servers':
      seedServers(hosting, account);
      return { ok: true };
    case 'delete_server':
      hosting.servers.remove(account, String(action.server));
      return { ok: true };
  }
}

function revokeKey(hosting: HostingService, account: Account, key: number): PanelResult {
  const isKnown = hosting.accounts.listKeys(account).some((entry) => entry.id === key);
  if (!isKnown) return refuse('unknown', 'There is no such key.');
  hosting.accounts.revokeKey(account, key);
  return { ok: true };
}

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
