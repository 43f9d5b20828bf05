import { describe, expect, test } from 'vitest';
import type { Server } from '../../src/domain/server.ts';
import { matchServer } from '../../src/domain/server-ref.ts';
import { countTries, triesOf } from './support/tries.ts';

const count = countTries('A13');
const SERVERS = 5000;
const RUNS = triesOf({ short: 7, long: 51 });

/** Labels of 200 characters, each made to keep the search busy. */
const LABELS: Readonly<Record<string, (index: number) => string>> = {
  'that differ at their ends': (index) => 'x'.repeat(200 - String(index).length) + index,
  'that differ at their beginnings': (index) => String(index).padEnd(200, 'x'),
  'of two letters in turn': (index) => `${'ab'.repeat(97)}${String(index).padStart(6, '0')}`,
  'that are as far from the name as is allowed': (index) =>
    `yyyyy${'x'.repeat(189)}${String(index).padStart(6, '0')}`,
  'with letters that are longer in lower case': (index) =>
    `${'İ'.repeat(194)}${String(index).padStart(6, '0')}`,
};
const NAMES: Readonly<Record<string, string>> = {
  'a long name': `${'x'.repeat(199)}!`,
  'a name of letters in turn': `${'ba'.repeat(99)}b!`,
  'a short name': 'x!',
  'the beginning of all of them': 'x',
  'a very long name': 'x'.repeat(20_000),
};

/** The least time on the processor of several runs, in milliseconds: a busy machine makes waiting longer, not work. */
function measure(work: () => void): number {
  const times = Array.from({ length: RUNS }, () => {
    count();
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

describe.each(Object.entries(LABELS))(`a search among ${SERVERS} labels %s`, (_, labelOf) => {
  const servers = Array.from({ length: SERVERS }, (_one, index): Server => {
    return { id: index + 1, label: labelOf(index), state: 'running' };
  });

  test.each(Object.entries(NAMES))('holds up other users for less than 50 ms for %s', (_name, typed) => {
    expect(measure(() => matchServer(typed, servers))).toBeLessThan(50);
  });
});
