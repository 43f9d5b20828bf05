import { describe, expect, it } from 'vitest';
import { findEmoji, isDrawn } from '../../../src/sandbox/page/client/text/emoji.ts';
import {
  formatSlackDate,
  type Inline,
  parseInline,
  parseMrkdwn,
} from '../../../src/sandbox/page/client/text/parse.ts';
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
    expect(signs).toEqual(expect.arrayContaining(['🟢', '🔴', '⚠️', '✅', '⏳']));
    expect(signs.filter((sign) => !isDrawn(sign))).toEqual([]);
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

describe('dates', () => {
  const now = Date.UTC(2026, 9, 6, 12);
  it.each([
    ['{ago}', now / 1000 - 3600, '1 hour ago'],
    ['{date_short_pretty}', now / 1000, 'today'],
    ['{date_short_pretty}', now / 1000 + 86_400, 'tomorrow'],
    ['until {unknown}', now / 1000, 'until {unknown}'],
  ])('fills %s', (format, seconds, expected) => {
    expect(formatSlackDate(seconds, format, now)).toBe(expected);
  });
});
