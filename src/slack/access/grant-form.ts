import type { ModalView } from '@slack/types';
import { z } from 'zod';
import type { Granted, WantedGrant } from '../../app/access/change-access.ts';
import type { UserGroup } from '../../app/authorize/ports.ts';
import type { Grantee } from '../../domain/access.ts';
import { ROLES } from '../../domain/actor.ts';
import { EVERY_SERVER, findPattern } from '../../domain/label-pattern.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { HOUR_MS } from '../../domain/time.ts';
import { context, option, section } from '../kit/blocks.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { codeTyped, count, plainLabel } from '../kit/text.ts';
import { describeGrantee, describeRole } from './access-words.ts';

export const GRANT_TITLE = 'Give a role';
const TIMES = [
  { value: 'permanent', text: 'for good' },
  { value: '1', text: 'for 1 hour' },
  { value: '8', text: 'for 8 hours' },
  { value: '24', text: 'for a day' },
  { value: '168', text: 'for a week' },
] as const;

export const grantForm = defineModal(
  'grant',
  z.object({}),
  z.object({
    person: z.string().exactOptional(),
    group: z.string().exactOptional(),
    channel: z.string().exactOptional(),
    role: z.enum(ROLES, 'Choose a role'),
    pattern: z.string().exactOptional(),
    time: z.string('Choose how long it is for'),
  }),
);
export type GrantFields = Parameters<Parameters<typeof grantForm.onSubmit>[1]>[0]['fields'];

/** The form in which an owner grants a role; without the scope for user groups, that field is absent. */
export function grantView(groups: readonly UserGroup[] | undefined, origin: Origin): ModalView {
  const roles = ROLES.map((role) => option(role, role, ROLE_WORDS[role]));
  const [permanent] = TIMES;
  return grantForm.view({
    origin,
    metadata: {},
    title: GRANT_TITLE,
    submit: 'Give',
    blocks: [
      section('To a person, or to a user group, or to whoever is a full member and acts in a channel:'),
      grantForm.userField('person', { label: 'Person', optional: true }),
      groups === undefined
        ? context(
            'User groups can’t be offered: the app lacks the scope `usergroups:read`, or Slack does not answer.',
          )
        : groupField(groups),
      grantForm.channelField('channel', { label: 'Channel', optional: true }),
      grantForm.selectField('role', { label: 'Role', placeholder: 'Choose a role', options: roles }),
      grantForm.textField('pattern', {
        label: 'Only for servers named',
        placeholder: 'web-*',
        hint: 'Empty: for every server. * stands for any letters.',
        maxLength: 100,
        optional: true,
      }),
      grantForm.selectField('time', {
        label: 'How long',
        placeholder: 'Choose how long',
        options: TIMES.map(({ value, text }) => option(text, value)),
        initial: permanent.value,
      }),
    ],
  });
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

/** The user groups that match what was typed, as choices. */
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

const ROLE_WORDS = {
  viewer: 'sees servers and prices',
  operator: 'also starts, stops and reboots',
  manager: 'also creates, renews and deletes',
  owner: 'also connects the account and gives roles',
} as const;

/** Reads what was entered, or says what is wrong beside the field that it is about. */
export function readGrantFields(
  fields: GrantFields,
): WantedGrant | { readonly errors: Record<string, string> } {
  const chosen = [
    { subjectKind: 'user', subjectId: fields.person },
    { subjectKind: 'group', subjectId: fields.group },
    { subjectKind: 'channel', subjectId: fields.channel },
  ].filter((grantee): grantee is Grantee => grantee.subjectId !== undefined);
  const [grantee] = chosen;
  if (!grantee || chosen.length > 1)
    return { errors: { person: 'Choose one: a person, a user group or a channel' } };
  const pattern = fields.pattern === undefined ? EVERY_SERVER : findPattern(fields.pattern);
  if (pattern === undefined) return { errors: { pattern: 'That can’t be part of a label' } };
  if (fields.role === 'owner' && pattern !== EVERY_SERVER) {
    return { errors: { pattern: 'An owner covers every server: leave it empty' } };
  }
  const hours = Number(fields.time);
  const forMs = hours > 0 ? hours * HOUR_MS : undefined;
  return { ...grantee, role: fields.role, pattern, ...omitUndefined({ forMs }) };
}

/** What was granted, and how many servers it covers today. */
export function grantedWords({ grant, matchingServers }: Granted): string {
  const covered =
    matchingServers === undefined
      ? ''
      : matchingServers === 0
        ? ` No server is named like ${codeTyped(grant.pattern)} today; it counts for those to come.`
        : ` That is ${count(matchingServers, 'server')} today.`;
  const subject =
    grant.subjectKind === 'channel'
      ? `Whoever is a full member and acts in ${describeGrantee(grant)}`
      : describeGrantee(grant);
  return `${subject} is now ${describeRole(grant)}.${covered}`;
}
