import { beforeAll, describe, expect, it } from 'vitest';
import { createPages } from '../../../src/sandbox/page/serve.ts';
import { serveFiles } from './support/browser.ts';

describe('the files of the page', () => {
  let origin = '';
  beforeAll(async () => {
    const served = await serveFiles(await createPages());
    origin = served.origin;
    return served.close;
  });

  it('are served under a policy that blocks inline scripts, other servers and text as markup', async () => {
    const answer = await fetch(`${origin}/?as=olga`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(answer.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'");
    const html = await answer.text();
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
    expect(html.match(/(?:src|href)="(?!data:)[^"]*"/g)?.every((each) => each.includes('="/assets/'))).toBe(
      true,
    );
  });

  it('include the pages, and no other files', async () => {
    expect((await fetch(`${origin}/account`)).headers.get('content-type')).toContain('text/html');
    expect((await fetch(`${origin}/client/main.tsx`)).status).toBe(404);
    expect((await fetch(`${origin}/../bundle.ts`)).status).toBe(404);
    expect((await fetch(origin, { method: 'POST' })).status).toBe(405);
  });
});
