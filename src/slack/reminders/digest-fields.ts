import type { InputBlock, KnownBlock } from '@slack/types';
import { z } from 'zod';
import {
  DEFAULT_DIGEST,
  type DigestSettings,
  describeDaysBefore,
  findDaysBefore,
} from '../../domain/digest-settings.ts';
import { findZone } from '../../domain/local-time.ts';
import { option, section } from '../kit/blocks.ts';
import type { ChannelOptions, SelectOptions, TextOptions } from '../kit/fields.ts';

/** The digest's fields of the settings form. Without a channel, the others don't count. */
export const digestFields = {
  digestChannel: z.string().exactOptional(),
  digestHour: z
    .string()
    .regex(/^(1?\d|2[0-3])$/)
    .exactOptional(),
  digestZone: z
    .string()
    .refine(
      (text) => findZone(text) !== undefined,
      'Enter a time zone such as Europe/Berlin, America/New_York or UTC.',
    )
    .exactOptional(),
  digestDays: z
    .string()
    .refine(
      (text) => findDaysBefore(text) !== undefined,
      'Enter up to five numbers of days from 1 to 60, such as 7, 3, 1.',
    )
    .exactOptional(),
};

type Optional = { readonly optional: true };

/** The part of the settings form's fields that is used here. */
interface Fields {
  textField(name: 'digestZone' | 'digestDays', options: TextOptions & Optional): InputBlock;
  selectField(name: 'digestHour', options: SelectOptions & Optional): InputBlock;
  channelField(name: 'digestChannel', options: ChannelOptions & Optional): InputBlock;
}

/** What is set, or a proposal: the owner's own time zone, as Slack has it, at nine. */
export function digestInputs(
  digest: DigestSettings | undefined,
  ownZone: string | undefined,
  fields: Fields,
): KnownBlock[] {
  const proposed = { ...DEFAULT_DIGEST, ...(ownZone !== undefined && { zone: ownZone }) };
  const { hour, zone, daysBefore } = digest ?? proposed;
  return [
    section('*Daily digest: servers to renew, what renewing them costs, and changes outside this workspace*'),
    fields.channelField('digestChannel', {
      label: 'Digest channel',
      placeholder: 'Choose a channel',
      hint: 'Leave empty for no digest. Invite the app first. Everyone in the channel can read the servers’ names.',
      optional: true,
      excludesShared: true,
      initial: digest?.channelId,
    }),
    fields.selectField('digestHour', {
      label: 'Hour',
      placeholder: 'Choose an hour',
      options: Array.from({ length: 24 }, (_, each) =>
        option(`${String(each).padStart(2, '0')}:00`, String(each)),
      ),
      hint: 'The digest is posted in the first 15 minutes of this hour.',
      initial: String(hour),
      optional: true,
    }),
    fields.textField('digestZone', {
      label: 'Time zone',
      hint: 'Such as Europe/Berlin. Adjusts for daylight saving time.',
      initial: zone,
      optional: true,
      maxLength: 60,
    }),
    fields.textField('digestDays', {
      label: 'Days before the paid time ends',
      hint: 'With 7, 3, 1, a server is listed every day from 7 days before its paid time ends. You can snooze it until 3 days or 1 day before.',
      initial: describeDaysBefore(daysBefore),
      optional: true,
      maxLength: 30,
    }),
  ];
}

interface Entered {
  readonly digestChannel?: string;
  readonly digestHour?: string;
  readonly digestZone?: string;
  readonly digestDays?: string;
}

/** What was entered; undefined without a channel. What was left empty has its default. */
export function readDigestFields(entered: Entered): DigestSettings | undefined {
  const { digestChannel: channelId, digestHour, digestZone = '', digestDays = '' } = entered;
  if (channelId === undefined) return undefined;
  return {
    channelId,
    hour: digestHour === undefined ? DEFAULT_DIGEST.hour : Number(digestHour),
    zone: findZone(digestZone) ?? DEFAULT_DIGEST.zone,
    daysBefore: findDaysBefore(digestDays) ?? DEFAULT_DIGEST.daysBefore,
  };
}
