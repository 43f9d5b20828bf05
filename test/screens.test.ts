import { describe, expect, it, test } from 'vitest';
import type { Catalog } from '../src/core/catalog.ts';
import { money } from '../src/core/money.ts';
import { CHOICES, findWrongChoices, listChoices, listOmissions } from '../src/purchases/catalog.ts';
import { makeServer, NOW } from '../src/sandbox/gallery/fixtures/samples.ts';
import { findMessageFaults } from '../src/sandbox/slack/block-kit/find-faults.ts';
import { serverList } from '../src/servers/list.ts';
import { collectParts, findMentionedServers } from '../src/servers/mentioned.ts';
import { ALERTS, BLOCKS_ALERT } from './servers/support/alert-messages.ts';

const SERVERS = [
  { id: 41, label: 'web-1', state: 'running', ipv4: '10.0.0.5' },
  { id: 42, label: 'web-10', state: 'running', ipv4: '10.0.0.50' },
  { id: 43, label: 'db', state: 'running', ipv4: '10.0.0.7' },
  { id: 44, label: 'alertmanager', state: 'running' },
  { id: 45, label: 'monitor.example.com', state: 'running' },
];

function labelsIn(message: unknown): readonly string[] {
  return findMentionedServers(collectParts(message), SERVERS).map(({ server }) => server.label);
}

describe('the host of an alert', () => {
  it('is listed before the monitoring system, which is named only in links', () => {
    expect(labelsIn(ALERTS.alertmanager)).toEqual(['web-1', 'alertmanager']);
    expect(labelsIn(ALERTS.grafana)).toEqual(['web-1', 'monitor.example.com']);
  });

  it('is found in fields and in rich text, as readers see it', () => {
    expect(labelsIn(BLOCKS_ALERT)).toEqual(['web-10', 'web-1', 'db', 'monitor.example.com']);
  });

  it('is found in a message that was shared', () => {
    const shared = { attachments: [{ is_share: true, message_blocks: [{ message: BLOCKS_ALERT }] }] };
    expect(labelsIn(shared)).toContain('web-10');
    expect(labelsIn({ attachments: [ALERTS.grafana] })).toContain('web-1');
  });
});

describe('the markup of a message', () => {
  it('is read so that a link’s text comes before its URL', () => {
    expect(labelsIn({ text: '<http://db:9100|web-1>' })).toEqual(['web-1', 'db']);
  });

  it('never mentions a server by a user, group, channel or time', () => {
    expect(labelsIn({ text: '<@U1|db> <#C1|db> <!subteam^S1|db> <!date^1^{date}|db>' })).toEqual([]);
  });

  it('has its entities read as characters', () => {
    expect(labelsIn({ text: '&lt;web-1&gt; &amp; db' })).toEqual(['web-1', 'db']);
  });
});

describe('a malformed message', () => {
  const deep: { text: string; blocks?: unknown } = { text: 'web-1' };
  let inner: { text: string; blocks?: unknown } = deep;
  for (let depth = 0; depth < 5000; depth++) {
    const next = { text: 'db' };
    inner.blocks = [next];
    inner = next;
  }

  it.each([
    ['null', null],
    ['a list', ['web-1']],
    ['wrong types', { text: 5, blocks: 'web-1', attachments: 7 }],
    ['odd attachments', { attachments: [null, 5, 'web-1', { fields: 'web-1', blocks: 7 }] }],
  ])('mentions nothing: %s', (_name, message) => {
    expect(labelsIn(message)).toEqual([]);
  });

  it('is read to a limited depth and length', () => {
    expect(labelsIn(deep)).toContain('web-1');
    const attachments = Array(5000).fill({ title: 'xx' });
    expect(labelsIn({ text: 'x'.repeat(10_000), attachments: [{ title: 'db' }] })).toEqual([]);
    expect(labelsIn({ attachments: [...attachments, { title: 'db' }] })).toEqual([]);
  });
});

const many = (count: number, label: string) =>
  Array.from({ length: count }, (_, id) => ({
    ...makeServer(),
    id: 900_000_000_000 + id,
    label: `${label}${id}`,
    state: 'in some strange state',
    ipv4: '2001:0db8:85a3:0000:0000:8a2e:0370:7334',
  }));

it('a long list with long cells shows every server exactly once, in tables that Slack accepts', () => {
  const servers = many(250, 'a-label-that-is-as-long-as-a-cell-can-show-');
  const pages = 4;
  expect(serverList({ servers, extent: 'whole', isLimited: false }, '', pages - 1, NOW).text).toMatch(
    /–250$/,
  );
  const ids = Array.from({ length: pages }, (_, page) =>
    serverList({ servers, extent: 'whole', isLimited: false }, '', page, NOW),
  ).flatMap((message) => {
    expect(findMessageFaults({ text: message.text, blocks: message.blocks })).toEqual([]);
    return message.blocks.flatMap((block) =>
      block.type === 'data_table' ? block.rows.slice(1).map((row) => JSON.stringify(row.at(-1))) : [],
    );
  });
  expect(new Set(ids).size).toBe(250);
  expect(ids).toHaveLength(250);
});

const CODES = ['small', 'a'.repeat(75), '&'.repeat(75)];
const PLAN = { vcpu: 1, ramMb: 2048, diskGb: 25, monthly: money(590) };
const catalog: Catalog = {
  plans: CODES.map((code) => ({ ...PLAN, code })),
  locations: CODES,
  images: CODES,
};

describe('the choices of a catalog', () => {
  test.each(CHOICES)('offer every %s by its code, in texts that Slack accepts', (field) => {
    const options = listChoices(catalog, field, 'EUR');
    expect(options.map(({ value }) => value)).toEqual(CODES);
    for (const { text } of options) expect(text.text.length).toBeLessThanOrEqual(75);
  });

  test('show the price of each plan, however long its code', () => {
    for (const { text } of listChoices(catalog, 'plan', 'EUR'))
      expect(text.text).toMatch(/ · 5\.90 EUR\/month$/);
  });

  test('that are too long or unreadable are left out, and that is said', () => {
    const partial: Catalog = {
      ...catalog,
      images: [...CODES, 'x'.repeat(76)],
      isPart: true,
    };
    expect(listChoices(partial, 'image', '')).toHaveLength(CODES.length);
    expect(findWrongChoices({ image: 'x'.repeat(76) }, partial)).toHaveLength(1);
    expect(listOmissions(partial)).toEqual([
      'Can’t be ordered from Slack: 1 image with a code that is too long.',
      'The hosting API’s catalog has more entries than we could read.',
    ]);
    expect(listOmissions(catalog)).toEqual([]);
  });
});
