import { describe, expect, it } from 'vitest';
import { describeBody, mergeTraffic } from '../../../src/sandbox/page/client/panel/rows.ts';
import type { TrafficEntry } from '../../../src/sandbox/slack/page-api.ts';

const KEY = 'hk_abcDEF-123456789_xyz';

describe('what the traffic shows of a body', () => {
  it('is no API key, and no link that takes one', () => {
    const link = `http://127.0.0.1:4001/connect/${'t'.repeat(43)}`;
    expect(describeBody(JSON.stringify({ url: link, value: KEY }))).not.toMatch(/ttt|abcDEF/);
    expect(describeBody(`text=connect+${KEY}`)).toBe('text: connect [masked]');
    const typed = { id: 1, at: 1000, from: 'slack', what: `command /vps connect ${KEY}`, status: 200 };
    const [row] = mergeTraffic([{ ...typed, response: '' } as TrafficEntry], [], 'all');
    expect(row?.what).toBe('command /vps connect [masked]');
  });

  it('is everything else as it was sent', () => {
    const body = { ok: true, list: [1, null, 'a "b"'], deep: { type: 'section', text: '[x](y)' } };
    expect(JSON.parse(describeBody(JSON.stringify(body)))).toEqual(body);
  });
});
