import type { InputBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { EVERY_SERVER, findPattern } from '../core/labels.ts';
import { type Grantee, ROLES, type Role } from '../core/roles.ts';
import { HOUR_MS } from '../core/time.ts';
import type { UserGroup } from '../slack/directory.ts';
import { context, option, section } from '../slack/kit/blocks.ts';
import type { FieldKinds } from '../slack/kit/fields.ts';
import type { Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { codeLabel, count, plainLabel } from '../slack/kit/text.ts';
import type { Granted, WantedGrant } from './grants.ts';
import { describeGrantee, describeNewRole, describeRoles } from './words.ts';

export const GRANT_TITLE = 'Grant a role';
const DURATIONS = [
  { value: 'permanent', text: 'Permanently' },
  { value: '1', text: '1 hour' },
  { value: '8', text: '8 hours' },
  { value: '24', text: '1 day' },
  { value: '168', text: '1 week' },
] as const;

export const grantForm = defineModal(
  'grant',
  z.object({}),
  z.object({
    user: z.string().exactOptional(),
    group: z.string().exactOptional(),
    channel: z.string().exactOptional(),
    role: z.enum(ROLES, 'Choose a role'),
    pattern: z.string().exactOptional(),
    time: z.string('Choose a duration'),
  }),
);
type GrantFields = Parameters<Parameters<typeof grantForm.onSubmit>[1]>[0]['fields'];

/** Renders the form that grants a role. `groups` undefined: they can't be listed, and the form says so. */
export function grantView(groups: readonly UserGroup[] | undefined, origin: Origin): ModalView {
  return grantForm.view({
    origin,
    metadata: {},
    title: GRANT_TITLE,
    submit: 'Grant',
    blocks: [
      section('Choose one: a user, a user group or a channel (its full members).'),
      grantForm.userField('user', { label: 'User', optional: true }),
      groups === undefined
        ? context(
            'User groups can’t be listed: the app lacks the scope `usergroups:read`, or Slack didn’t answer.',
          )
        : groupField(groups),
      grantForm.channelField('channel', { label: 'Channel', optional: true }),
      grantForm.selectField('role', {
        label: 'Role',
        placeholder: 'Choose a role',
        options: ROLES.map(roleOption),
      }),
      serversField(grantForm),
      durationField(grantForm, 'permanent'),
    ],
  });
}

export function roleOption(role: Role) {
  return option(role, role, ROLE_WORDS[role]);
}

export function serversField(form: FieldKinds<{ pattern?: string }>): InputBlock {
  return form.textField('pattern', {
    label: 'Limit to servers',
    placeholder: 'web-*',
    hint: 'Leave empty for all. Use * as a wildcard.',
    maxLength: 100,
    optional: true,
  });
}

export const WRONG_PATTERN = 'Enter part of a label, such as web-*';

export function durationField(
  form: FieldKinds<{ time: string }>,
  initial: (typeof DURATIONS)[number]['value'],
): InputBlock {
  const options = DURATIONS.map(({ value, text }) => option(text, value));
  return form.selectField('time', { label: 'Duration', placeholder: 'Choose a duration', options, initial });
}

/** Reads the field for how long a role lasts, in milliseconds; undefined for a permanent role. */
export function forMsOf(time: string): number | undefined {
  const hours = Number(time);
  return hours > 0 ? hours * HOUR_MS : undefined;
}

function groupField(groups: readonly UserGroup[]) {
  const options = listGroupOptions(groups, '');
  if (options.length === 0) return context('This Slack workspace has no user groups.');
  return grantForm.selectField('group', {
    label: 'User group',
    placeholder: 'Choose a user group',
    options,
    optional: true,
    typeAhead: options.length > 100,
  });
}

/** Lists the enabled user groups whose handle or name contains what was typed, as choices. */
export function listGroupOptions(groups: readonly UserGroup[], typed: string) {
  const wanted = typed.trim().toLowerCase();
  return groups
    .filter(
      ({ isDisabled, handle, name }) => !isDisabled && `${handle} ${name}`.toLowerCase().includes(wanted),
    )
    .map(({ id, handle, name }) =>
      option(plainLabel(`@${handle}`), id, name === '' ? undefined : plainLabel(name)),
    );
}

const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer: 'Sees servers and prices',
  operator: 'Also starts, stops and reboots',
  manager: 'Also creates, renews and deletes',
  owner: 'Also connects the account and grants roles',
};

export function readGrantFields(
  fields: GrantFields,
): WantedGrant | { readonly errors: Record<string, string> } {
  const chosen = [
    { subjectKind: 'user', subjectId: fields.user },
    { subjectKind: 'group', subjectId: fields.group },
    { subjectKind: 'channel', subjectId: fields.channel },
  ].filter((grantee): grantee is Grantee => grantee.subjectId !== undefined);
  const [grantee] = chosen;
  if (!grantee || chosen.length > 1)
    return { errors: { user: 'Choose one: a user, a user group or a channel' } };
  const pattern = fields.pattern === undefined ? EVERY_SERVER : findPattern(fields.pattern);
  if (pattern === undefined) return { errors: { pattern: WRONG_PATTERN } };
  return { ...grantee, role: fields.role, pattern, forMs: forMsOf(fields.time) };
}

export function grantedWords({ grant, matchingServers }: Granted): string {
  const who = describeGrantee(grant);
  const covered = matchingServers ? ` (${count(matchingServers, 'server')})` : '';
  const none =
    matchingServers === 0
      ? ` No server matches ${codeLabel(grant.pattern)} yet; the role will apply to any new one that does.`
      : '';
  switch (grant.subjectKind) {
    case 'user':
      return `${who} is now ${describeNewRole(grant, covered)}.${none}`;
    case 'group':
      return `Members of ${who} are now ${describeRoles(grant, covered)}.${none}`;
    case 'channel':
      return `In ${who}, full members are now ${describeRoles(grant, covered)}.${none}`;
  }
}
