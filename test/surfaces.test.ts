import type { HomeView, ModalView } from '@slack/types';
import { describe, expect, it } from 'vitest';
import { commands } from '../src/commands.ts';
import { home } from '../src/home/home.ts';
import { CANARY } from '../src/sandbox/gallery/fixtures/samples.ts';
import { nastySurfaces, surfaces } from '../src/sandbox/gallery/fixtures/surfaces.ts';
import { findMessageFaults, findViewFaults } from '../src/sandbox/slack/block-kit/find-faults.ts';
import { findPings } from '../src/sandbox/slack/mentions.ts';
import type { StoredMessage } from '../src/sandbox/slack/messages.ts';
import type { Message } from '../src/slack/kit/blocks.ts';

type Made = Message | ModalView | HomeView;

/** Each surface is made once: that takes longer than what is looked for in it. */
const makeAll = (some: typeof surfaces) =>
  some.map(({ name, make }): { name: string; made: Made } => ({ name, made: make() }));
const typical = makeAll(surfaces);
const nasty = makeAll(nastySurfaces);
const all = [...typical, ...nasty];

function isView(made: Made): made is ModalView | HomeView {
  return 'type' in made;
}

/** What is sent: a view, or a message and the same without native blocks. */
function variantsOf(made: Made): readonly object[] {
  if (isView(made)) return [made];
  const { text, blocks, plainBlocks } = made;
  return [{ text, blocks }, ...(plainBlocks ? [{ text, blocks: plainBlocks }] : [])];
}

function faultsOf(made: Made) {
  return isView(made) ? findViewFaults(made) : variantsOf(made).flatMap(findMessageFaults);
}

interface Element {
  readonly type: string;
  readonly action_id?: string;
}

function elementsIn(part: unknown): Element[] {
  if (typeof part !== 'object' || part === null) return [];
  const own = 'action_id' in part && 'type' in part ? [part as Element] : [];
  return [...own, ...Object.values(part).flatMap(elementsIn)];
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
function collect(some: typeof all, look: (made: Made) => readonly unknown[]) {
  return some.flatMap(({ name, made }) => look(made).map((fault) => ({ surface: name, fault })));
}

describe('every message and form that users see', () => {
  it('is accepted by Slack, with minimal, typical and maximal data', () => {
    expect(collect(typical, faultsOf)).toEqual([]);
  });

  it('is accepted by Slack, whatever a server’s label', () => {
    expect(collect(nasty, faultsOf)).toEqual([]);
  });

  it('has text for notifications and screen readers', () => {
    const wordless = collect(all, (made) => (isView(made) || made.text.trim() !== '' ? [] : ['no text']));
    expect(wordless).toEqual([]);
  });

  it('shows a root password in a preformatted block and nowhere else', () => {
    let shown = 0;
    const leaks = collect(all, (made) =>
      variantsOf(made)
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
    const pings = collect(all, (made) =>
      variantsOf(made).flatMap((variant) => findPings(asPosted(variant)).filter(isEvil)),
    );
    expect(pings).toEqual([]);
  });

  it('never turns a label into a link', () => {
    const links = collect(all, (made) =>
      variantsOf(made).flatMap((variant) =>
        mrkdwnIn(variant).filter((text) => /<https?:|\|x>/.test(text.replaceAll(ACCOUNT_LINK, ''))),
      ),
    );
    expect(links).toEqual([]);
  });

  it('is never cut off in the middle', () => {
    const cut = collect(all, (made) =>
      variantsOf(made).flatMap((variant) =>
        mrkdwnIn(variant).filter(
          (text) => text.endsWith('…') && [200, 300, 2000, 3000].includes(text.length),
        ),
      ),
    );
    expect(cut).toEqual([]);
  });

  it('has buttons, menus and forms that a command handles', () => {
    const handled = (of: 'actions' | 'modals' | 'suggestions') =>
      new Set([...commands, home].flatMap((command) => command[of].map(({ id }) => id)));
    const [actions, modals, suggestions] = [handled('actions'), handled('modals'), handled('suggestions')];
    const unanswered = collect(all, (made) => {
      const elements = elementsIn(made).filter(
        ({ type, action_id: id = '' }) =>
          (type === 'external_select' && !suggestions.has(id)) || (!isView(made) && !actions.has(id)),
      );
      const isForm = isView(made) && made.type === 'modal' && made.submit !== undefined;
      const { callback_id: form = '' } = isView(made) ? made : {};
      return [...elements, ...(isForm && !modals.has(form) ? [form] : [])];
    });
    expect(unanswered).toEqual([]);
  });

  it('is rendered the same from the same data', () => {
    for (const [at, { make }] of surfaces.entries()) expect(make()).toEqual(typical[at]?.made);
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
