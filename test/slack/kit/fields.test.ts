import type { ModalView } from '@slack/types';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { findViewFaults } from '../../../src/sandbox/slack/block-kit/find-faults.ts';
import { USERS } from '../../../src/sandbox/slack/workspace.ts';
import { option } from '../../../src/slack/kit/blocks.ts';
import { readEntered } from '../../../src/slack/kit/fields.ts';
import { defineModal, submittedView } from '../../../src/slack/kit/modal.ts';
import type { SlackRequest } from '../../../src/slack/request.ts';
import { startBoth } from '../../sandbox/slack/support/fake-app.ts';

const grant = defineModal(
  'grant',
  z.object({}),
  z.object({
    person: z.string('Choose a person'),
    channel: z.string('Choose a channel').exactOptional(),
    role: z.enum(['viewer', 'operator'], 'Choose a role'),
    server: z.string().exactOptional(),
    reason: z.string('Say why').trim().min(3, 'Say a little more'),
    pattern: z.string().trim().exactOptional(),
  }),
);
type Granting = { person: string; role: 'viewer' | 'operator'; reason: string } & Partial<
  Record<'channel' | 'server' | 'pattern', string>
>;

const ROLES = [option('Viewer', 'viewer'), option('Operator', 'operator')];
const SERVERS = [option('web-1', '7')];

/** The form of all kinds of fields, filled with these at first. */
function view(initial: Partial<Granting> = {}): ModalView {
  const at = (name: keyof Granting) => (initial[name] === undefined ? {} : { initial: initial[name] });
  return grant.view({
    origin: { formId: 'F1' },
    metadata: {},
    title: 'Give a role',
    submit: 'Give',
    blocks: [
      grant.userField('person', { label: 'Person', hint: 'Who gets it', ...at('person') }),
      grant.channelField('channel', { label: 'Channel', optional: true, ...at('channel') }),
      grant.selectField('role', { label: 'Role', placeholder: 'Choose', options: ROLES, ...at('role') }),
      grant.selectField('server', {
        label: 'Server',
        placeholder: 'Type a few letters',
        options: SERVERS,
        typeAhead: true,
        optional: true,
        ...at('server'),
      }),
      grant.textField('reason', { label: 'Reason', multiline: true, maxLength: 300, ...at('reason') }),
      grant.textField('pattern', {
        label: 'Pattern',
        placeholder: 'web-*',
        optional: true,
        ...at('pattern'),
      }),
    ],
  });
}

/** Opens the form in the local Slack, fills and submits it as a user, and reads what Slack sent. */
async function roundTrip(shown: ModalView, filled: Readonly<Record<string, string>>) {
  const { slack, app } = await startBoth();
  app.reply = ({ kind }) => (kind === 'block_suggestion' ? { body: { options: SERVERS } } : {});
  const owner = slack.as('olga');
  await owner.types('/vps access');
  const opened = await app.call('views.open', { trigger_id: app.last().trigger_id, view: shown });
  expect(opened).toMatchObject({ ok: true });
  await owner.fills(filled);
  await owner.presses('Give');
  return run(app.last().view);
}

const granting = { name: 'access_grant', needs: 'anyone', effect: 'reads' } as const;
const request = { authorize: async () => undefined } as unknown as SlackRequest;

async function run(sent: unknown) {
  const given: Granting[] = [];
  const handler = grant.onSubmit(granting, async ({ fields }) => {
    given.push(fields);
    return {};
  });
  const answer = await handler.run(submittedView.parse(sent), request);
  return { given: given[0], answer };
}

const FULL: Granting = {
  person: USERS.otto.id,
  channel: 'C0OPS00001',
  role: 'operator',
  server: '7',
  reason: 'On call\nthis week',
  pattern: 'web-*',
};

describe('a form with all kinds of fields', () => {
  it('reads what was entered', async () => {
    const { given } = await roundTrip(view(), {
      Person: '@otto',
      Channel: '#ops',
      Role: 'Operator',
      Server: 'web-1',
      Reason: FULL.reason,
      Pattern: 'web-*',
    });
    expect(given).toEqual(FULL);
  });

  it('reads initial values', async () => {
    expect((await roundTrip(view(FULL), {})).given).toEqual(FULL);
  });

  it('leaves out optional fields that are empty', async () => {
    const { channel, server, pattern, ...rest } = FULL;
    expect((await roundTrip(view(rest), {})).given).toEqual(rest);
  });

  it('treats spaces as empty', async () => {
    const { given } = await roundTrip(view(FULL), { Pattern: '   ' });
    expect(given).not.toHaveProperty('pattern');
    expect(given).toMatchObject({ person: FULL.person });
  });

  it('shows beside each field what is missing or wrong', async () => {
    const sent = { id: 'V1', ...view(), state: { values: { reason: { x: { value: ' x ' } } } } };
    expect(await run(sent)).toEqual({
      given: undefined,
      answer: {
        with: { errors: { person: 'Choose a person', role: 'Choose a role', reason: 'Say a little more' } },
      },
    });
  });

  it('is accepted by Slack, empty and filled', () => {
    expect(findViewFaults(view())).toEqual([]);
    expect(findViewFaults(view(FULL))).toEqual([]);
  });

  it('offers channels, including private ones, and neither users nor bots', () => {
    const { element } = grant.channelField('channel', { label: 'Channel' });
    expect(element).toMatchObject({
      type: 'conversations_select',
      filter: { include: ['public', 'private'] },
    });
  });

  it('leaves out channels shared with other organizations where they can’t be used', () => {
    const { element } = grant.channelField('channel', { label: 'Channel', excludesShared: true });
    expect(element).toMatchObject({
      filter: { include: ['public', 'private'], exclude_external_shared_channels: true },
    });
  });

  it('can load choices while the user types, however few there are', () => {
    const typeOf = (typeAhead: boolean) =>
      grant.selectField('role', { label: 'R', placeholder: 'x', options: ROLES, typeAhead }).element.type;
    expect([typeOf(false), typeOf(true)]).toEqual(['static_select', 'external_select']);
  });

  it('allows only optional fields to be empty', () => {
    expect(grant.textField('pattern', { label: 'P', optional: true }).optional).toBe(true);
    expect(grant.textField('reason', { label: 'R' }).optional).toBeUndefined();
    expectTypeOf(grant.textField<'pattern'>)
      .parameter(1)
      .toHaveProperty('optional')
      .toEqualTypeOf<boolean | undefined>();
    expectTypeOf(grant.textField<'reason'>)
      .parameter(1)
      .toHaveProperty('optional')
      .toEqualTypeOf<undefined>();
  });
});

describe('the values that Slack sends', () => {
  it.each([
    ['value', 'x'],
    ['selected_user', 'U1'],
    ['selected_conversation', 'C1'],
    ['selected_channel', 'C1'],
    ['selected_option', { value: 'x' }],
  ])('are read from %s; null means empty', (place, value) => {
    const expected = typeof value === 'string' ? value : value.value;
    expect(readEntered({ it: { 'a.it': { [place]: value } } })).toEqual({ it: expected });
    expect(readEntered({ it: { 'a.it': { [place]: null } } })).toEqual({});
  });

  it('never break the form, whatever they are', () => {
    const state = fc.dictionary(fc.string(), fc.dictionary(fc.string(), fc.anything()));
    fc.assert(
      fc.property(state, (entered) => {
        for (const value of Object.values(readEntered(entered))) expect(value.trim()).not.toBe('');
      }),
    );
  });
});
