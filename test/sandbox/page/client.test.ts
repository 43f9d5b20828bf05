import { describe, expect, it } from 'vitest';
import type { RequestEntry } from '../../../src/sandbox/hosting/journal.ts';
import { describeBody, mergeTraffic } from '../../../src/sandbox/page/client/panel/rows.ts';
import { applyEvent } from '../../../src/sandbox/page/client/state.ts';
import { DRAWN_PATTERN, findEmoji } from '../../../src/sandbox/page/client/text/emoji.ts';
import { type Inline, parseInline, parseMrkdwn } from '../../../src/sandbox/page/client/text/parse.ts';
import type { PageEvent, PageMessage, PageState, TrafficEntry } from '../../../src/sandbox/slack/page-api.ts';
import { readSources } from '../../support/sources.ts';

/** Short: `b[…]` for bold, and so on. */
function short(parts: readonly Inline[]): string {
  return parts.map(shortOf).join('');
}

function shortOf(part: Inline): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'link':
      return `link(${part.url})[${short(part.children)}]`;
    case 'bold':
    case 'italic':
    case 'strike':
    case 'code':
      return `${part.type}[${short(part.children)}]`;
    case 'emoji':
      return `:${part.name}:`;
    case 'broadcast':
      return `@${part.range}`;
    case 'date':
      return `date(${part.seconds} ${part.format})`;
    default:
      return `${part.type}(${part.id} ${part.label})`;
  }
}

/** The source of the product's parts that write to Slack. */
function readSlackSources(): string {
  const parts = readSources().filter(({ path }) => !/^(sandbox|cli|db|web)\//.test(path));
  return parts.map(({ code }) => code).join('\n');
}

describe('emojis', () => {
  it('are drawn if the app uses them, so that they show without a font for emojis', () => {
    const source = readSlackSources();
    const typed = source.match(/\p{Extended_Pictographic}/gu) ?? [];
    const named = [...source.matchAll(/:([a-z]+(?:_[a-z]+)*):(?=[ *`'])/g)].map(([, name = '']) => name);
    const signs = [...new Set([...typed, ...named.map((name) => findEmoji(name) ?? name)])];
    expect(signs).toEqual(expect.arrayContaining(['🟢', '🔴', '⚠', '✅', '⏳']));
    expect(signs.filter((sign) => !DRAWN_PATTERN.test(sign))).toEqual([]);
  });
});

describe('mrkdwn', () => {
  it.each([
    ['*bold* _it_ ~no~', 'bold[bold] italic[it] strike[no]'],
    ['*bold _and it_*', 'bold[bold italic[and it]]'],
    ['2*3*4 and a_b_c', '2*3*4 and a_b_c'],
    ['* not* *nor *', '* not* *nor *'],
    ['`*code* &lt;b&gt;` *x*', 'code[*code* <b>] bold[x]'],
    ['*web `a*b` end*', 'bold[web code[a*b] end]'],
    ['<@U1> <#C1|ops> <!here> <!subteam^S1|@oncall>', 'user(U1 ) channel(C1 ops) @here group(S1 @oncall)'],
    ['<https://a.example?x=1&amp;y=2|a &amp; b>', 'link(https://a.example?x=1&y=2)[a & b]'],
    ['<javascript:alert(1)|press>', 'press'],
    ['<!date^1797811200^{date} at {time}|soon>', 'date(1797811200 {date} at {time})'],
    ['see https://a.example/x, ok', 'see link(https://a.example/x)[https://a.example/x], ok'],
    [':rocket: at 10:30:00', ':rocket: at 10:30:00'],
    ['&lt;!channel&gt; &amp;amp;', '<!channel> &amp;'],
    ['a < b and <', 'a < b and <'],
  ])('reads %s', (text, expected) => {
    expect(short(parseInline(text))).toBe(expected);
  });

  it('leaves bare addresses alone when the app says verbatim', () => {
    expect(short(parseInline('https://a.example', { verbatim: true }))).toBe('https://a.example');
  });

  it('takes fences and quotes out of the lines', () => {
    const paragraphs = parseMrkdwn('before\n&gt; quoted *x*\n> more\n```\n*raw*\n&lt;tag&gt;\n```\nafter');
    expect(paragraphs.map(({ type }) => type)).toEqual(['lines', 'quote', 'pre', 'lines']);
    expect(paragraphs[2]).toEqual({ type: 'pre', text: '*raw*\n<tag>' });
  });
});

const message = (ts: string, text: string) => ({ channel: 'C1', ts, text }) as PageMessage;
const empty = { channels: [{ id: 'C1', messages: [] }], brokenRules: [] } as unknown as PageState;

const textsAfter = (...events: readonly PageEvent[]) =>
  events.reduce(applyEvent, empty).channels[0]?.messages.map(({ text }) => text);

describe('the state after events', () => {
  it('is the same when events arrive twice, as they do after a reconnect', () => {
    const first: PageEvent = { type: 'message', message: message('1.1', 'one') };
    const change: PageEvent = { type: 'message_changed', message: message('1.1', 'changed') };
    const rule: PageEvent = { type: 'broken_rule', rule: { at: 1, rule: 'late_ack', words: 'too late' } };
    expect(textsAfter(first, change, first, change)).toEqual(['changed']);
    expect([rule, rule].reduce(applyEvent, empty).brokenRules).toHaveLength(1);
  });

  it('keeps messages in the order of their time, and drops deleted ones', () => {
    const events = ['3.0', '1.0', '2.0'].map(
      (ts): PageEvent => ({ type: 'message', message: message(ts, ts) }),
    );
    expect(textsAfter(...events)).toEqual(['1.0', '2.0', '3.0']);
    expect(textsAfter(...events, { type: 'message_deleted', channel: 'C1', ts: '2.0' })).toEqual([
      '1.0',
      '3.0',
    ]);
  });
});

describe('a request in the traffic', () => {
  it('shows forms line by line, and the JSON inside them indented', () => {
    const body = `text=list+all&payload=${encodeURIComponent('{"a":1}')}`;
    expect(describeBody(body)).toBe('text: list all\npayload:\n{\n  "a": 1\n}');
    expect(describeBody('not json')).toBe('not json');
  });
});

const KEY = 'hk_abcDEF-123456789_xyz';

const makeRequest = (more: Partial<RequestEntry>) =>
  ({
    id: 1,
    realAtMs: 1000,
    method: 'POST',
    path: '/servers',
    ending: 'answered',
    status: 200,
    ...more,
  }) as RequestEntry;

const makeEntry = (more: Partial<TrafficEntry>) =>
  ({
    id: 1,
    at: 1000,
    from: 'slack',
    what: 'command /vps list',
    status: 200,
    response: '',
    ...more,
  }) as TrafficEntry;

describe('what the traffic shows of a body', () => {
  it('is no API key, and no link that takes one', () => {
    const link = `http://127.0.0.1:4001/connect/${'t'.repeat(43)}`;
    expect(describeBody(JSON.stringify({ url: link, value: KEY }))).not.toMatch(/ttt|abcDEF/);
    expect(describeBody(`text=connect+${KEY}`)).toBe('text: connect [masked]');
    const [row] = mergeTraffic([makeEntry({ what: `command /vps connect ${KEY}` })], [], 'all');
    expect(row?.what).toBe('command /vps connect [masked]');
  });

  it('is everything else as it was sent', () => {
    const body = { ok: true, list: [1, null, 'a "b"'], deep: { type: 'section', text: '[x](y)' } };
    expect(JSON.parse(describeBody(JSON.stringify(body)))).toEqual(body);
  });
});

describe('the list of requests', () => {
  it('marks what went wrong and why', () => {
    const lost = makeRequest({ id: 3, ending: 'cut', status: undefined, fault: 'lost_after' });
    const refused = makeRequest({ id: 4, status: 409, code: 'wrong_state' });
    const denied = makeEntry({ from: 'app', response: '{"ok":false,"error":"missing_scope"}' });
    const rows = mergeTraffic([denied], [lost, refused, makeRequest({ id: 5 })], 'all');
    expect(rows.map(({ isBad, ending, code, fault }) => [isBad, ending, code, fault])).toEqual([
      [true, '200', 'missing_scope', ''],
      [true, 'cut off', '', 'lost_after'],
      [true, '409', 'wrong_state', ''],
      [false, '200', '', ''],
    ]);
  });
});
