import {
  API_CODES,
  type HostingCode,
  HostingError,
  type RefusalCode,
  type RefusalDetails,
} from '../../src/domain/errors.ts';
import { money } from '../../src/domain/money.ts';
import { makeServer, NOW } from './fixtures.ts';

/** Every code of the hosting API's client. */
export const HOSTING_CODES: readonly (HostingCode | 'unknown_code')[] = [
  ...API_CODES,
  'no_answer',
  'unreadable_answer',
  'not_sent',
  'unknown_code',
];

/** Details for every refusal there is; the type demands a sample for each code. */
export function sampleDetails(label: string): { readonly [Code in RefusalCode]: RefusalDetails[Code] } {
  return {
    role_needed: { needed: 'manager', held: 'viewer', owners: ['U0OWNER0001'] },
    other_organisation: {},
    other_workspace: {},
    identity_unknown: {},
    not_creator: { label },
    already_handled: {},
    unreadable_press: {},
    unknown_command: { typed: label, nearest: 'list' },
    bad_words: { problem: `There is no “${label}”.`, usage: '/vps renew <server>' },
    unknown_server: { typed: label, nearest: label },
    ambiguous_server: { typed: label, servers: [makeServer({ label }), makeServer({ id: 43, label })] },
    label_differs: { typed: label, label },
    unknown_choice: { field: 'plan', typed: label, nearest: label },
    bad_label: { problem: 'it is empty' },
    too_many_servers: { count: 40, most: 20 },
    price_moved: { before: money(590), now: money(690) },
    already_renewed: { label, paidUntil: NOW },
    paid_until_unknown: { label },
    create_in_doubt: { label },
    stale_confirmation: {},
    doubt_over: {},
    account_changed: {},
    label_moved: { before: label, now: label },
    no_password: { label },
    no_api_key: {},
    key_unreadable: { keyId: label },
    link_unusable: { reason: 'expired' },
    no_public_url: {},
    last_owner: {},
    owner_limited: {},
    no_grantee: { problem: 'no_group_scope' },
    grant_over: {},
    role_held: { role: 'operator' },
    label_needed: { role: 'operator' },
    asked_before: { at: NOW, state: 'denied', againAt: NOW },
    asked_enough: { wishes: [{ role: 'operator', pattern: label, at: NOW }], againAt: NOW },
    own_request: {},
    request_over: { state: 'approved', by: 'U0OWNER0001' },
    approval_needed: {},
    not_approved: { error: new HostingError('no_answer', 'maybe') },
    over_budget: { whose: 'person', spent: money(9_900), most: money(10_000), price: money(590) },
    settings_moved: {},
    channel_unwritable: { reason: 'not_in_channel' },
    waited_too_long: {},
    shutting_down: {},
  };
}

export const REFUSAL_CODES = Object.keys(sampleDetails('')) as RefusalCode[];
