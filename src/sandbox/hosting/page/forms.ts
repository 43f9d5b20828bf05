import type { Account } from '../accounts.ts';
import { ERROR_CODES } from '../errors.ts';
import { FAULT_EFFECTS, type FaultKind, type FaultRule } from '../faults.ts';
import { minorOf } from '../money.ts';
import { parseDialect } from '../options.ts';
import { OPERATIONS } from '../routes.ts';
import type { PageParts } from './page-parts.ts';

/** A form that cannot be carried out, in words for the person who sent it. */
export class FormProblem extends Error {
  override readonly name = 'FormProblem';
}

type Fields = URLSearchParams;

const HOUR_MS = 60 * 60 * 1000;

/** Opens an account. @throws FormProblem */
export function openAccount({ accounts }: PageParts, fields: Fields): Account {
  const name = (fields.get('name') ?? '').trim();
  if (name === '' || name.length > 100)
    throw new FormProblem('An account has a name of 1 to 100 characters.');
  return accounts.create({ name });
}

/** Books a top-up. @throws FormProblem */
export function topUp({ accounts }: PageParts, account: Account, fields: Fields): void {
  const amountMinor = minorOf(parseAmount(fields.get('amount')));
  if (amountMinor === 0) throw new FormProblem('A top-up is more than nothing.');
  accounts.topUp(account, amountMinor);
}

/** Changes a plan's price. @throws FormProblem */
export function changePrice({ prices }: PageParts, fields: Fields): void {
  const plan = prices.findPlan(fields.get('plan') ?? '');
  if (!plan) throw new FormProblem('There is no such plan.');
  const price = parseAmount(fields.get('price'));
  prices.setPrice(plan.code, price);
}

/** Moves the service's clock. @throws FormProblem */
export function skipTime({ clock }: PageParts, fields: Fields): void {
  const step = fields.get('step');
  if (step === 'hour') clock.advance(HOUR_MS);
  else if (step === 'day') clock.advance(24 * HOUR_MS);
  else if (step === 'month') clock.advanceMonth();
  else throw new FormProblem('Time moves by an hour, a day or a month.');
}

/** Switches a fault on. @throws FormProblem */
export function switchFaultOn({ faults }: PageParts, fields: Fields): void {
  try {
    faults.add(parseFault(fields));
  } catch (error) {
    if (error instanceof RangeError) throw new FormProblem(error.message);
    throw error;
  }
}

/** Changes how the service answers. @throws FormProblem */
export function changeAnswers({ setAnswers }: PageParts, fields: Fields): void {
  const pageSize = Number(fields.get('pageSize') ?? '');
  try {
    const dialect = parseDialect(Object.fromEntries(fields), (trait) => trait);
    setAnswers({ ...dialect, ...(pageSize > 0 && { pageSize }) });
  } catch (error) {
    if (error instanceof RangeError) throw new FormProblem(error.message);
    throw error;
  }
}

function parseFault(fields: Fields): FaultRule {
  const [kindName, codeName] = (fields.get('kind') ?? '').split(':');
  const kind = Object.keys(FAULT_EFFECTS).find((name): name is FaultKind => name === kindName);
  const on = [...OPERATIONS, 'paid' as const, 'any' as const].find((name) => name === fields.get('on'));
  const code = ERROR_CODES.find((name) => name === codeName);
  if (!kind || !on) throw new FormProblem('There is no such fault.');
  const times = fields.get('times') === 'always' ? 'always' : Number(fields.get('times') ?? 1);
  const ms = Number(fields.get('seconds') ?? 10) * 1000;
  return {
    on,
    kind,
    times,
    ...(code && { code }),
    ...(kind.startsWith('slow') && { delayMs: ms }),
    ...((kind.startsWith('checking') || code === 'checking') && { afterMs: ms }),
  };
}

/** A decimal amount as a person types it, `50`, `50.5` or `50,50`, with two decimals. @throws FormProblem */
function parseAmount(typed: string | null): string {
  const parts = /^(\d{1,7})(?:[.,](\d{1,2}))?$/.exec((typed ?? '').trim());
  if (!parts) throw new FormProblem('An amount looks like 50 or 49.90.');
  return `${parts[1]}.${(parts[2] ?? '').padEnd(2, '0')}`;
}
