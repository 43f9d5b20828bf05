import { describe, expect, it } from 'vitest';
import { findMentionedServers } from '../../../src/servers/mentioned.ts';
import { collectParts } from '../../../src/servers/shortcuts.ts';
import { ALERTS, BLOCKS_ALERT } from './alert-messages.ts';

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
  it.each(Object.entries(ALERTS))('of %s is found, and nothing before it', (_tool, alert) => {
    expect(labelsIn(alert)[0]).toBe('web-1');
  });

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

  it('never mentions a server by an emoji', () => {
    expect(labelsIn({ text: ':db: web-1 :db:' })).toEqual(['web-1']);
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
    ['text', 'web-1'],
    ['a list', ['web-1']],
    ['wrong types', { text: 5, blocks: 'web-1', attachments: { title: 'web-1' } }],
    ['odd attachments', { attachments: [null, 5, 'web-1', { fields: 'web-1', blocks: 7 }] }],
  ])('mentions nothing: %s', (_name, message) => {
    expect(labelsIn(message)).toEqual([]);
  });

  it('is read to a limited depth and length', () => {
    expect(labelsIn(deep)).toContain('web-1');
    const parts = collectParts({
      text: 'x'.repeat(1_000_000),
      attachments: Array(10_000).fill({ title: 'db' }),
    });
    expect(parts.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(60_000);
  });
});
