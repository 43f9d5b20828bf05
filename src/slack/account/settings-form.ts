import type { InputBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { describeMoney, findMoney, type Money, money } from '../../domain/money.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { listChanges, type SettingName, type WorkspaceSettings } from '../../domain/settings.ts';
import { context, option, section } from '../kit/blocks.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { escapeText } from '../kit/text.ts';

export const SETTINGS_TITLE = 'Settings';

const hundredths = z.number().int().min(0).transform(money).exactOptional();

/** The settings as the form showed them, to be compared with what they are when it is saved. */
const shown: z.ZodType<WorkspaceSettings> = z.object({
  announces: z.boolean(),
  approval: z.object({ delete: z.boolean(), renew: z.boolean(), createAbove: hundredths }),
  budget: z.object({ workspace: hundredths, person: hundredths }),
  channelId: z.string().exactOptional(),
});

const isOn = z.enum(['on', 'off'], 'Choose one');
const amount = z
  .string()
  .refine((text) => findMoney(text) !== undefined, 'Write an amount such as 25 or 4.99, without a currency')
  .exactOptional();

/** What owners set for the workspace. */
export const settingsForm = defineModal(
  'settings',
  shown,
  z.object({
    announces: isOn,
    approveDelete: isOn,
    approveRenew: isOn,
    createAbove: amount,
    workspaceBudget: amount,
    personBudget: amount,
    channel: z.string().exactOptional(),
  }),
);

type Fields = Parameters<Parameters<typeof settingsForm.onSubmit>[1]>[0]['fields'];

/** The settings as they are, to be changed. */
export function settingsView(settings: WorkspaceSettings, origin: Origin, currency: string): ModalView {
  return settingsForm.view({
    origin,
    metadata: settings,
    title: SETTINGS_TITLE,
    submit: 'Save',
    blocks: [
      choice('announces', 'Tell channels what was done in them', settings.announces, ['Yes', 'No']),
      section('*Two-person rule*: another manager has to approve it before it is done.'),
      choice('approveDelete', 'To delete a server', settings.approval.delete, ['On', 'Off']),
      choice('approveRenew', 'To renew a server', settings.approval.renew, ['On', 'Off']),
      amountField('createAbove', settings.approval.createAbove, {
        label: `To create a server that costs more a month than${inCurrency(currency)}`,
        hint: 'Empty: never. 0: whenever it costs something.',
      }),
      section('*Budget*: the most that may be spent in a month (of UTC).'),
      amountField('workspaceBudget', settings.budget.workspace, {
        label: `By the whole workspace${inCurrency(currency)}`,
        hint: 'Empty: no limit.',
      }),
      amountField('personBudget', settings.budget.person, {
        label: `By each person${inCurrency(currency)}`,
        hint: 'Empty: no limit.',
      }),
      context(
        'Only what is paid with this app counts. Renewals whose price is not known here are not counted. What goes over is refused, or asked of another manager where the two-person rule is on.',
      ),
      settingsForm.channelField('channel', {
        label: 'Channel for requests to approve, and reminders',
        hint: 'Empty: they go to people directly. The app has to be in it. Who asks for a role asks the owners directly.',
        optional: true,
        initial: settings.channelId,
      }),
    ],
  });
}

/** What was entered, as settings. */
export function readSettingsFields(fields: Fields): WorkspaceSettings {
  const { createAbove, workspaceBudget, personBudget, channel } = fields;
  return {
    announces: fields.announces === 'on',
    approval: {
      delete: fields.approveDelete === 'on',
      renew: fields.approveRenew === 'on',
      ...omitUndefined({ createAbove: readAmount(createAbove) }),
    },
    budget: omitUndefined({ workspace: readAmount(workspaceBudget), person: readAmount(personBudget) }),
    ...omitUndefined({ channelId: channel }),
  };
}

/** "Saved: the two-person rule for deletes is on." */
export function savedWords(was: WorkspaceSettings, is: WorkspaceSettings, currency: string): string {
  const changes = listChanges(was, is).map(({ name }) => WORDS[name](is, currency));
  return changes.length === 0 ? 'Nothing was changed.' : `Saved: ${changes.join('; ')}.`;
}

const WORDS: Readonly<Record<SettingName, (is: WorkspaceSettings, currency: string) => string>> = {
  announces: ({ announces }) =>
    announces ? 'channels are told what was done in them' : 'channels are not told what was done in them',
  'approval.delete': ({ approval }) =>
    `a delete ${approval.delete ? 'takes' : 'does not take'} a second person`,
  'approval.renew': ({ approval }) =>
    `a renewal ${approval.renew ? 'takes' : 'does not take'} a second person`,
  'approval.createAbove': ({ approval: { createAbove } }, currency) =>
    createAbove === undefined
      ? 'a create does not take a second person'
      : createAbove === 0
        ? 'a create that costs anything takes a second person'
        : `a create that costs more than ${inMoney(createAbove, currency)} a month takes a second person`,
  'budget.workspace': ({ budget }, currency) => budgetWords('the workspace', budget.workspace, currency),
  'budget.person': ({ budget }, currency) => budgetWords('each person', budget.person, currency),
  channel: ({ channelId }) =>
    channelId === undefined
      ? 'requests to approve and reminders go to people directly'
      : `requests to approve and reminders go to <#${channelId}>`,
};

function budgetWords(whose: string, most: Money | undefined, currency: string): string {
  if (most === undefined) return `${whose} has no budget`;
  return `${whose} may spend ${inMoney(most, currency)} a month`;
}

function inMoney(most: Money, currency: string): string {
  return escapeText(describeMoney(most, currency));
}

function inCurrency(currency: string): string {
  return currency ? ` (${currency})` : '';
}

function choice(
  name: 'announces' | 'approveDelete' | 'approveRenew',
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
