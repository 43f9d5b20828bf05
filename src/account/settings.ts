import type { InputBlock, KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { describeMoney, findCurrency, findMoney, type Money, money } from '../core/money.ts';
import { listChanges, type PurchaseFreeze, type WorkspaceSettings } from '../core/settings.ts';
import { findOwnZone } from '../reminders/marks.ts';
import { digestFields, digestInputs, readDigestFields } from '../reminders/reminders.ts';
import { context, option, section, textMessage } from '../slack/kit/blocks.ts';
import { defineCommand } from '../slack/kit/command.ts';
import { defineForm, loadingView, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { mention, slackDate } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { savedWords } from './audit-sentence.ts';
import { changeSettings, checkChannel, readSettings } from './workspaces.ts';

const SETTINGS_TITLE = 'Settings';

const hundredths = z.number().int().min(0).transform(money).exactOptional();

/** The settings as the form showed them, to detect changes by others when it is saved. */
const shown: z.ZodType<WorkspaceSettings> = z.object({
  announces: z.boolean(),
  approval: z.object({ delete: z.boolean(), renew: z.boolean(), createAbove: hundredths }),
  budget: z.object({ workspace: hundredths, person: hundredths }),
  channelId: z.string().exactOptional(),
  freeze: z.object({ by: z.string(), since: z.number() }).exactOptional(),
  currency: z.string().exactOptional(),
  digest: z
    .object({ channelId: z.string(), hour: z.number(), zone: z.string(), daysBefore: z.array(z.number()) })
    .exactOptional(),
});

const isOn = z.enum(['on', 'off'], 'Choose one.');
const amount = z
  .string()
  .refine((text) => findMoney(text) !== undefined, 'Enter an amount such as 25 or 4.99, without a currency.')
  .exactOptional();

const currency = z
  .string()
  .refine(
    (text) => findCurrency(text) !== undefined,
    'Enter a currency such as EUR, USD or €: up to 12 letters, no digits.',
  )
  .exactOptional();

/** The form for the workspace's settings. */
const settingsForm = defineModal(
  'settings',
  shown,
  z.object({
    freeze: isOn,
    announces: isOn,
    approveDelete: isOn,
    approveRenew: isOn,
    createAbove: amount,
    workspaceBudget: amount,
    personBudget: amount,
    channel: z.string().exactOptional(),
    currency,
    ...digestFields,
  }),
);

type Fields = Parameters<Parameters<typeof settingsForm.onSubmit>[1]>[0]['fields'];

/** Renders the settings form. `currency` follows amounts, '' for none. `ownZone` is proposed while there is no digest. */
export function settingsView(
  settings: WorkspaceSettings,
  origin: Origin,
  currency: string,
  ownZone?: string,
): ModalView {
  return settingsForm.view({
    origin,
    metadata: settings,
    title: SETTINGS_TITLE,
    submit: 'Save',
    blocks: [
      ...freezeFields(settings.freeze),
      choice('announces', 'Announce changes in the channel', settings.announces, ['Yes', 'No']),
      ...approvalFields(settings, currency),
      ...budgetFields(settings, currency),
      settingsForm.channelField('channel', {
        label: 'Approvals channel',
        placeholder: 'Choose a channel',
        hint: 'Leave empty to send direct messages. Invite the app first. Role requests always go to owners.',
        optional: true,
        excludesShared: true,
        initial: settings.channelId,
      }),
      settingsForm.textField('currency', {
        label: 'Currency',
        hint: 'Shown after every amount, such as EUR. The hosting API doesn’t report one. Leave empty for the app’s default.',
        initial: settings.currency,
        optional: true,
        maxLength: 12,
      }),
      ...digestInputs(settings.digest, ownZone, settingsForm),
    ],
  });
}

function freezeFields(freeze: PurchaseFreeze | undefined): KnownBlock[] {
  const field = choice('freeze', 'Purchase freeze', freeze !== undefined, [
    'On (no new servers, no renewals)',
    'Off',
  ]);
  if (!freeze) return [field];
  return [section(`*Purchases are frozen* (by ${mention(freeze.by)}, ${slackDate(freeze.since)}).`), field];
}

function approvalFields({ approval }: WorkspaceSettings, currency: string): KnownBlock[] {
  return [
    section('*Require a second manager’s approval for*'),
    choice('approveDelete', 'Deleting servers', approval.delete, ['On', 'Off']),
    choice('approveRenew', 'Renewing servers', approval.renew, ['On', 'Off']),
    amountField('createAbove', approval.createAbove, {
      label: `Creating servers that cost more than (per month${inCurrency(currency)})`,
      hint: 'Leave empty to turn off. 0 = always.',
    }),
  ];
}

function budgetFields({ budget }: WorkspaceSettings, currency: string): KnownBlock[] {
  return [
    section('*Monthly budget (UTC)*'),
    amountField('workspaceBudget', budget.workspace, {
      label: `Workspace${inBrackets(currency)}`,
      hint: 'Leave empty for no limit.',
    }),
    amountField('personBudget', budget.person, {
      label: `Per person${inBrackets(currency)}`,
      hint: 'Leave empty for no limit.',
    }),
    context(
      'Orders over budget are refused or, with the two-person rule, need approval. Only orders from Slack with a known price count.',
    ),
  ];
}

/** Reads the form as settings. `freezeBy`: the freeze to set if purchases aren't frozen yet. */
function readSettingsFields(
  fields: Fields,
  was: WorkspaceSettings,
  freezeBy: PurchaseFreeze,
): WorkspaceSettings {
  const { createAbove, workspaceBudget, personBudget, channel, currency: typed } = fields;
  return {
    announces: fields.announces === 'on',
    approval: {
      delete: fields.approveDelete === 'on',
      renew: fields.approveRenew === 'on',
      createAbove: readAmount(createAbove),
    },
    budget: { workspace: readAmount(workspaceBudget), person: readAmount(personBudget) },
    channelId: channel,
    freeze: fields.freeze === 'on' ? (was.freeze ?? freezeBy) : undefined,
    currency: typed === undefined ? undefined : findCurrency(typed),
    digest: readDigestFields(fields),
  };
}

function inCurrency(currency: string): string {
  return currency ? `, ${currency}` : '';
}

function inBrackets(currency: string): string {
  return currency ? ` (${currency})` : '';
}

function choice(
  name: 'freeze' | 'announces' | 'approveDelete' | 'approveRenew',
  label: string,
  value: boolean,
  [yes, no]: readonly [string, string],
): InputBlock {
  return settingsForm.selectField(name, {
    label,
    placeholder: 'Choose one',
    options: [option(yes, 'on'), option(no, 'off')],
    initial: value ? 'on' : 'off',
  });
}

function amountField(
  name: 'createAbove' | 'workspaceBudget' | 'personBudget',
  value: Money | undefined,
  words: { readonly label: string; readonly hint: string },
): InputBlock {
  const initial = value === undefined ? undefined : describeMoney(value);
  return settingsForm.textField(name, { ...words, initial, optional: true, maxLength: 20 });
}

function readAmount(text: string | undefined): Money | undefined {
  return text === undefined ? undefined : findMoney(text);
}

const form = defineForm({
  id: 'settings',
  title: SETTINGS_TITLE,
  input: z.object({}),
  needs: readSettings,
  load: async (_input, request, origin) => {
    const settings = await request.execute(readSettings, {});
    // Needed only while there is no digest, so that other forms don't wait for Slack.
    const ownZone = settings.digest ? undefined : await request.execute(findOwnZone, {});
    return settingsView(settings, origin, request.currency, ownZone);
  },
});

export const settings = defineCommand({
  name: 'settings',
  usage: 'settings',
  summary: 'Change the workspace’s settings',
  needs: 'owner',
  parse: ({ words }) => (words.length > 0 ? '`/vps settings` takes no arguments.' : {}),
  run: (_input, request) => form.open({}, request),
  actions: [form.handler],
  modals: [
    settingsForm.onSubmit(changeSettings, async ({ fields, metadata: was, viewId }, request) => {
      const freezeBy = { by: request.caller.actor.userId, since: request.now() };
      const wanted = readSettingsFields(fields, was, freezeBy);
      const words = savedWords(was, wanted, currencyOf(was, wanted, request));
      if (listChanges(was, wanted).length === 0) return { with: noticeView(SETTINGS_TITLE, words) };
      const errors = await findChannelFaults(was, wanted, request);
      if (Object.keys(errors).length > 0) return { with: { errors } };
      return {
        with: loadingView(SETTINGS_TITLE, 'Saving…'),
        after: async () => {
          await request.execute(changeSettings, { was, settings: wanted });
          const shown = await request.views.update(viewId, noticeView('Settings saved', words));
          if (!shown.ok) await request.reply.send(textMessage(`*Settings saved:*\n${words}`));
          await announceFreeze(was, wanted, request);
        },
      };
    }),
  ],
});

/** The currency of amounts after saving. The app's default is known only while the workspace has no currency of its own. */
function currencyOf(was: WorkspaceSettings, is: WorkspaceSettings, { currency }: SlackRequest): string {
  return is.currency ?? (was.currency === undefined ? currency : '');
}

/** Announces that purchases were frozen or unfrozen, so that users know why they can't buy, or that they can again. */
async function announceFreeze(
  was: WorkspaceSettings,
  is: WorkspaceSettings,
  request: SlackRequest,
): Promise<void> {
  if (was.freeze === undefined && is.freeze !== undefined)
    await request.announce('froze purchases: nothing can be bought or renewed for now');
  if (was.freeze !== undefined && is.freeze === undefined)
    await request.announce('lifted the purchase freeze');
}

/** Tests newly chosen channels. Returns why the app can't post there, in plain text by field. */
async function findChannelFaults(
  was: WorkspaceSettings,
  is: WorkspaceSettings,
  request: SlackRequest,
): Promise<Readonly<Record<string, string>>> {
  const chosen = [
    ['channel', 'approvals', is.channelId, was.channelId],
    ['digestChannel', 'digest', is.digest?.channelId, was.digest?.channelId],
  ] as const;
  // Side by side: Slack waits 3 s for the answer to the form.
  const faults = await Promise.all(
    chosen.map(async ([field, purpose, channelId, before]) => {
      if (channelId === undefined || channelId === before) return [];
      const fault = await request.execute(checkChannel, { channelId, purpose }).then(
        () => undefined,
        // Errors beside fields are plain text.
        (error: unknown) => request.explain(error).replaceAll('`', ''),
      );
      return fault === undefined ? [] : [[field, fault] as const];
    }),
  );
  return Object.fromEntries(faults.flat());
}
