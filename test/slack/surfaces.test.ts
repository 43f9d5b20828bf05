import type { HomeView, ModalView } from '@slack/types';
import { describe, expect, it } from 'vitest';
import { CANARY, type Surface } from '../../src/sandbox/gallery/fixtures/samples.ts';
import { nastySurfaces, surfaces } from '../../src/sandbox/gallery/fixtures/surfaces.ts';
import { findMessageFaults, findViewFaults } from '../../src/sandbox/slack/block-kit/find-faults.ts';
import { findPings } from '../../src/sandbox/slack/mentions.ts';
import type { StoredMessage } from '../../src/sandbox/slack/messages.ts';
import type { Message } from '../../src/slack/kit/blocks.ts';

const all = [...surfaces, ...nastySurfaces];

function isView(made: Message | ModalView | HomeView): made is ModalView | HomeView {
  return 'type' in made;
}

/** What is sent: a view, or a message and the same without native blocks. */
function variantsOf(made: Message | ModalView | HomeView): readonly object[] {
  if (isView(made)) return [made];
  const { text, blocks, plainBlocks } = made;
  return [{ text, blocks }, ...(plainBlocks ? [{ text, blocks: plainBlocks }] : [])];
}

function faultsOf({ make }: Surface) {
  const made = make();
  return isView(made) ? findViewFaults(made) : variantsOf(made).flatMap(findMessageFaults);
}

/** The types of all objects around each text that holds the secret. */
function whereIs(secret: string, part: unknown, around: readonly string[] = []): readonly string[][] {
  if (typeof part === 'string') return part.includes(secret) ? [[...around]] : [];
  if (typeof part !== 'object' || part === null) return [];
  const type = 'type' in part ? [...around, String(part.type)] : around;
  return Object.entries(part).flatMap(([name, value]) =>
    whereIs(secret, value, name === 'text' && typeof value === 'string' ? [...type, 'text'] : type),
  );
}

/** Collects what is wrong with each, by name, so that one failing run shows it all. */
function collect(some: readonly Surface[], look: (surface: Surface) => readonly unknown[]) {
  return some.flatMap((surface) => look(surface).map((fault) => ({ surface: surface.name, fault })));
}

describe('every message and form that users see', () => {
  it('is accepted by Slack, with minimal, typical and maximal data', () => {
    expect(collect(surfaces, faultsOf)).toEqual([]);
  });

  it('is accepted by Slack, whatever a server’s label', () => {
    expect(collect(nastySurfaces, faultsOf)).toEqual([]);
  });

  it('has text for notifications and screen readers', () => {
    const wordless = collect(all, ({ make }) => {
      const made = make();
      return isView(made) || made.text.trim() !== '' ? [] : ['no text'];
    });
    expect(wordless).toEqual([]);
  });

  it('shows a root password in a preformatted block and nowhere else', () => {
    let shown = 0;
    const leaks = collect(all, ({ make }) =>
      variantsOf(make())
        .flatMap((variant) => whereIs(CANARY, variant))
        .filter((types) => {
          shown += 1;
          return types.join(' ') !== 'rich_text rich_text_preformatted text text';
        }),
    );
    expect(leaks).toEqual([]);
    expect(shown).toBeGreaterThan(20);
  });

  it('pings only users who took part, whatever a server’s label', () => {
    const pings = collect(all, ({ make }) =>
      variantsOf(make()).flatMap((variant) => findPings(asPosted(variant)).filter(isEvil)),
    );
    expect(pings).toEqual([]);
  });

  it('never turns a label into a link', () => {
    const links = collect(all, ({ make }) =>
      variantsOf(make()).flatMap((variant) =>
        mrkdwnIn(variant).filter((text) => /<https?:|\|x>/.test(text.replaceAll(ACCOUNT_LINK, ''))),
      ),
    );
    expect(links).toEqual([]);
  });

  it('is never cut off in the middle', () => {
    const cut = collect(all, ({ make }) =>
      variantsOf(make()).flatMap((variant) =>
        mrkdwnIn(variant).filter(
          (text) => text.endsWith('…') && [200, 300, 2000, 3000].includes(text.length),
        ),
      ),
    );
    expect(cut).toEqual([]);
  });

  it('is rendered the same from the same data', () => {
    for (const { make } of surfaces) expect(make()).toEqual(make());
  });
});

/** The one link that messages have: to the page that the operator has set. */
const ACCOUNT_LINK = '<https://hosting.example/account|';

function isEvil(name: string): boolean {
  return /EVIL|^@(channel|here|everyone)$/.test(name);
}

function asPosted(variant: object): StoredMessage {
  const { text = '', blocks } = variant as { text?: string; blocks: StoredMessage['blocks'] };
  return { text, blocks } as StoredMessage;
}

function mrkdwnIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  if ('type' in part && part.type === 'mrkdwn' && 'text' in part) return [String(part.text)];
  return Object.values(part).flatMap(mrkdwnIn);
}
