import type { InputBlock, KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { describeMoney, findMoney, type Money } from '../core/money.ts';
import {
  DEFAULT_DIGEST,
  describeDaysBefore,
  findDaysBefore,
  listChanges,
  type SettingName,
  type WorkspaceSettings,
} from '../core/settings.ts';
import { findZone } from '../core/time.ts';
import { context, option, section, textMessage } from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import { defineCommand } from '../slack/kit/command.ts';
import { channelId, type SelectOptions } from '../slack/kit/fields.ts';
import { defineForm, loadingView, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal, type ModalKind } from '../slack/kit/modal.ts';
import { mention, slackDate } from '../slack/kit/text.ts';
import { cardView } from '../slack/kit/views.ts';
import { plainWords } from '../slack/reply.ts';
import type { SlackRequest } from '../slack/request.ts';
import { savedWords, settingLines } from './audit-sentence.ts';
import { changeSettings, checkChannel, findOwnZone, readSettings, settingsSchema } from './workspaces.ts';

export const settingsButton = defineButton('settings', z.object({}));

const isOn = z.enum(['on', 'off'], 'Choose one.');
const typed = (find: (text: string) => unknown, wrong: string) =>
  z
    .string()
    .refine((text) => find(text) !== undefined, wrong)
    .exactOptional();
const amount = typed(findMoney, 'Enter an amount such as 25 or 4.99, without a currency.');

interface Drawing {
  /** Follows amounts; '' for none. */
  readonly currency: string;
  /** The owner's own time zone, proposed while there is no digest. */
  readonly ownZone?: string | undefined;
}

const spending = defineModal(
  'settings_spending',
  settingsSchema,
  z.object({ freeze: isOn, workspaceBudget: amount, personBudget: amount }),
);

function spendingBlocks({ freeze, budget }: WorkspaceSettings, drawing: Drawing): KnownBlock[] {
  const follows = drawing.currency ? ` (${drawing.currency})` : '';
  const hint = 'Leave empty for no limit.';
  return [
    ...(freeze
      ? [section(`*Purchases are frozen* (by ${mention(freeze.by)}, ${slackDate(freeze.since)}).`)]
      : []),
    choice(spending, 'freeze', 'Purchase freeze', freeze !== undefined, [
      'On (no new servers, no renewals)',
      'Off',
    ]),
    section('*Monthly budget (UTC)*'),
    spending.textField('workspaceBudget', {
      label: `Workspace${follows}`,
      hint,
      ...initial(budget.workspace),
    }),
    spending.textField('personBudget', { label: `Per person${follows}`, hint, ...initial(budget.person) }),
    context(
      'Orders over budget are refused or, with the two-person rule, need approval. Only orders from Slack with a known price count.',
    ),
  ];
}

const approvals = defineModal(
  'settings_approvals',
  settingsSchema,
  z.object({
    approveDelete: isOn,
    approveRenew: isOn,
    createAbove: amount,
    channel: channelId.exactOptional(),
  }),
);

function approvalsBlocks({ approval, channelId }: WorkspaceSettings, drawing: Drawing): KnownBlock[] {
  return [
    section('*Require a second manager’s approval for*'),
    choice(approvals, 'approveDelete', 'Deleting servers', approval.delete, ['On', 'Off']),
    choice(approvals, 'approveRenew', 'Renewing servers', approval.renew, ['On', 'Off']),
    approvals.textField('createAbove', {
      label: `Creating servers that cost more than (per month${drawing.currency ? `, ${drawing.currency}` : ''})`,
      hint: 'Leave empty to turn off. 0 = always.',
      ...initial(approval.createAbove),
    }),
    approvals.channelField('channel', {
      label: 'Approvals channel',
      placeholder: 'Choose a channel',
      hint: 'Leave empty to send direct messages. Invite the app first. Role requests always go to owners.',
      optional: true,
      excludesShared: true,
      initial: channelId,
    }),
  ];
}

const notifications = defineModal(
  'settings_notifications',
  settingsSchema,
  z.object({
    announces: isOn,
    // Without a channel, the other fields of the digest don't count.
    digestChannel: channelId.exactOptional(),
    digestHour: z
      .string()
      .regex(/^(1?\d|2[0-3])$/)
      .exactOptional(),
    digestZone: typed(findZone, 'Enter a time zone such as Europe/Berlin, America/New_York or UTC.'),
    digestDays: typed(findDaysBefore, 'Enter up to five numbers of days from 1 to 60, such as 7, 3, 1.'),
  }),
);

function notificationsBlocks({ announces, digest }: WorkspaceSettings, { ownZone }: Drawing): KnownBlock[] {
  const proposed = { ...DEFAULT_DIGEST, zone: ownZone ?? DEFAULT_DIGEST.zone };
  const { hour, zone, daysBefore } = digest ?? proposed;
  return [
    choice(notifications, 'announces', 'Announce changes in the channel where they’re made', announces, [
      'Yes',
      'No',
    ]),
    section('*Daily digest: servers to renew, what renewing them costs, and changes outside this workspace*'),
    notifications.channelField('digestChannel', {
      label: 'Digest channel',
      placeholder: 'Choose a channel',
      hint: 'Leave empty for no digest. Invite the app first. Everyone in the channel can read the servers’ names.',
      optional: true,
      excludesShared: true,
      initial: digest?.channelId,
    }),
    notifications.selectField('digestHour', {
      label: 'Hour',
      placeholder: 'Choose an hour',
      options: Array.from({ length: 24 }, (_, each) =>
        option(`${String(each).padStart(2, '0')}:00`, String(each)),
      ),
      hint: 'The digest is posted at this hour.',
      initial: String(hour),
      optional: true,
    }),
    notifications.textField('digestZone', {
      label: 'Time zone',
      hint: 'Such as Europe/Berlin. Adjusts for daylight saving time.',
      initial: zone,
      optional: true,
      maxLength: 60,
    }),
    notifications.textField('digestDays', {
      label: 'Days before the paid time ends',
      hint: 'With 7, 3, 1: reminders start 7 days before the paid time ends, and can be snoozed until day 3 or day 1.',
      initial: describeDaysBefore(daysBefore),
      optional: true,
      maxLength: 30,
    }),
  ];
}

function choice<Name extends string>(
  { selectField }: { selectField(name: Name, options: SelectOptions): InputBlock },
  name: Name,
  label: string,
  value: boolean,
  [yes, no]: readonly [string, string],
): InputBlock {
  return selectField(name, {
    label,
    placeholder: 'Choose one',
    options: [option(yes, 'on'), option(no, 'off')],
    initial: value ? 'on' : 'off',
  });
}

function initial(value: Money | undefined) {
  return {
    initial: value === undefined ? undefined : describeMoney(value),
    optional: true,
    maxLength: 20,
  } as const;
}

function readAmount(text: string | undefined): Money | undefined {
  return text === undefined ? undefined : findMoney(text);
}

interface ScreenParts<Fields> {
  readonly title: string;
  readonly names: readonly SettingName[];
  blocks(settings: WorkspaceSettings, drawing: Drawing): KnownBlock[];
  read(fields: Fields, was: WorkspaceSettings, request: SlackRequest): Partial<WorkspaceSettings>;
}

/** Makes the screen of a part of the settings. Saving it leaves the other parts as they are. */
function screen<Fields extends Record<string, string | undefined>>(
  modal: ModalKind<WorkspaceSettings, Fields>,
  { title, names, blocks, read }: ScreenParts<Fields>,
) {
  const view = (settings: WorkspaceSettings, origin: Origin, drawing: Drawing): ModalView =>
    modal.view({ origin, metadata: settings, title, submit: 'Save', blocks: blocks(settings, drawing) });
  const form = defineForm({
    id: modal.id,
    title,
    input: z.object({}),
    needs: readSettings,
    load: async (_input, request, origin) => {
      const settings = await request.execute(readSettings, {});
      // Needed only to propose a digest, so that other forms don't wait for Slack.
      const isProposed = names.includes('digest.zone') && !settings.digest;
      const ownZone = isProposed ? await request.execute(findOwnZone, {}) : undefined;
      return view(settings, origin, { currency: request.currency, ownZone });
    },
  });
  return {
    view,
    open: (request: SlackRequest) => form.open({}, request),
    handler: form.handler,
    /** What is set, and the button that changes it. */
    summary: (settings: WorkspaceSettings, currency: string): KnownBlock =>
      section(`*${title}*\n${settingLines(settings, currency, names)}`, form.button.element(`${title}…`, {})),
    modal: modal.onSubmit(changeSettings, async ({ fields, metadata: was, viewId }, request) => {
      const wanted = { ...was, ...read(fields, was, request) };
      const words = savedWords(was, wanted, request.currency);
      if (listChanges(was, wanted).length === 0) return { with: noticeView(title, words) };
      const errors = await findChannelFaults(was, wanted, request);
      if (Object.keys(errors).length > 0) return { with: { errors } };
      return {
        with: loadingView(title, 'Saving…'),
        after: async () => {
          await request.execute(changeSettings, { was, settings: wanted });
          const saved = await request.views.update(viewId, noticeView('Settings saved', words));
          if (!saved.ok) await request.reply.send(textMessage(`*Settings saved:*\n${words}`));
          await announceFreeze(was, wanted, request);
        },
      };
    }),
  };
}

/** The screens by the word that opens each. */
export const settingsScreens = {
  spending: screen(spending, {
    title: 'Spending',
    names: ['freeze', 'budget.workspace', 'budget.person'],
    blocks: spendingBlocks,
    read: ({ freeze, workspaceBudget, personBudget }, was, request) => ({
      freeze:
        freeze === 'on'
          ? (was.freeze ?? { by: request.caller.actor.userId, since: request.now() })
          : undefined,
      budget: { workspace: readAmount(workspaceBudget), person: readAmount(personBudget) },
    }),
  }),
  approvals: screen(approvals, {
    title: 'Approvals',
    names: ['approval.delete', 'approval.renew', 'approval.createAbove', 'channel'],
    blocks: approvalsBlocks,
    read: ({ approveDelete, approveRenew, createAbove, channel }) => ({
      approval: {
        delete: approveDelete === 'on',
        renew: approveRenew === 'on',
        createAbove: readAmount(createAbove),
      },
      channelId: channel,
    }),
  }),
  notifications: screen(notifications, {
    title: 'Notifications',
    names: ['announces', 'digest.channel', 'digest.hour', 'digest.zone', 'digest.days'],
    blocks: notificationsBlocks,
    read: ({ announces, digestChannel, digestHour, digestZone = '', digestDays = '' }) => ({
      announces: announces === 'on',
      digest:
        digestChannel === undefined
          ? undefined
          : {
              channelId: digestChannel,
              hour: digestHour === undefined ? DEFAULT_DIGEST.hour : Number(digestHour),
              zone: findZone(digestZone) ?? DEFAULT_DIGEST.zone,
              daysBefore: findDaysBefore(digestDays) ?? DEFAULT_DIGEST.daysBefore,
            },
    }),
  }),
} as const;
type ScreenName = keyof typeof settingsScreens;
const screens = Object.values(settingsScreens);

export function overviewView(settings: WorkspaceSettings, origin: Origin, currency: string): ModalView {
  return cardView('Settings', origin, { blocks: screens.map((each) => each.summary(settings, currency)) });
}

const overview = defineForm({
  id: 'settings',
  title: 'Settings',
  input: z.object({}),
  needs: readSettings,
  load: async (_input, request, origin) =>
    overviewView(await request.execute(readSettings, {}), origin, request.currency),
});

const isScreenName = (word: string): word is ScreenName => Object.hasOwn(settingsScreens, word);

export const settings = defineCommand<{ readonly name?: ScreenName }>({
  name: 'settings',
  usage: 'settings [spending|approvals|notifications]',
  example: 'settings approvals',
  summary: 'Change the workspace’s settings',
  needs: 'owner',
  parse: ({ words }) => {
    const [name, ...rest] = words;
    if (name === undefined) return {};
    if (isScreenName(name) && rest.length === 0) return { name };
    return 'Settings has three screens: `spending`, `approvals` and `notifications`.';
  },
  run: ({ name }, request) => (name ? settingsScreens[name].open(request) : overview.open({}, request)),
  actions: [
    overview.handler,
    settingsButton.on((_value, request) => overview.open({}, request)),
    ...screens.map(({ handler }) => handler),
  ],
  modals: screens.map(({ modal }) => modal),
});

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
    ['channel', 'approval requests', is.channelId, was.channelId],
    ['digestChannel', 'the daily digest', is.digest?.channelId, was.digest?.channelId],
  ] as const;
  // Side by side: Slack waits 3 s for the answer to the form.
  const faults = await Promise.all(
    chosen.map(async ([field, receives, channelId, before]) => {
      if (channelId === undefined || channelId === before) return [];
      return request.execute(checkChannel, { channelId, receives }).then(
        () => [],
        (error: unknown) => [[field, plainWords(request.explain(error))] as const],
      );
    }),
  );
  return Object.fromEntries(faults.flat());
}
