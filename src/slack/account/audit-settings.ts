import { SETTING_NAMES, type SettingName } from '../../domain/settings.ts';
import { escapeText, mention } from '../kit/text.ts';
import { SETTING_LABELS } from './settings-words.ts';

/**
 * Puts what the audit stores of changed settings into words: "Approval for deletions off → on". Undefined where
 * another version of the app wrote something that this one can't read.
 */
export function describeSettingChanges(label: string): string | undefined {
  const changes = label.split(', ').map(describeChange);
  return changes.includes(undefined) ? undefined : `the settings: ${changes.join(', ')}`;
}

function describeChange(text: string): string | undefined {
  const [, name = '', before = '', after = ''] = /^(\S+) (.+) → (.+)$/.exec(text) ?? [];
  if (!isSettingName(name)) return undefined;
  return `${SETTING_LABELS[name]} ${describeValue(name, before)} → ${describeValue(name, after)}`;
}

function describeValue(name: SettingName, value: string): string {
  if (name === 'freeze') {
    const [by = ''] = value.split(' ');
    return value === 'none' ? 'off' : `on (by ${mention(by)})`;
  }
  if (value === 'true') return 'on';
  if (value === 'false') return 'off';
  if (value === 'none') return NONE[name] ?? 'none';
  return name === 'channel' ? `<#${value}>` : escapeText(value);
}

const NONE: Partial<Readonly<Record<SettingName, string>>> = {
  'approval.createAbove': 'off',
  channel: 'direct messages',
  currency: 'default',
};

function isSettingName(name: string): name is SettingName {
  return SETTING_NAMES.some((each) => each === name);
}
