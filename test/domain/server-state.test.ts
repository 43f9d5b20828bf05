import { expect, it } from 'vitest';
import { colorOf, isTargetState, powerActionsIn } from '../../src/core/server.ts';

it.each([
  ['running', 'green', ['stop', 'reboot']],
  ['Running ', 'green', ['stop', 'reboot']],
  ['creating', 'yellow', []],
  ['deleted', 'gray', []],
  ['rebooting', 'yellow', ['start', 'stop', 'reboot']],
  ['stopped', 'gray', ['start', 'stop', 'reboot']],
  ['suspended', 'red', ['start', 'stop', 'reboot']],
  ['ERROR_42', 'red', ['start', 'stop', 'reboot']],
  ['', 'gray', ['start', 'stop', 'reboot']],
  ['a state of its own', 'gray', ['start', 'stop', 'reboot']],
])('a server in state %j is %s, and all power actions are offered unless the state is documented', (state, color, actions) => {
  expect(colorOf({ state })).toBe(color);
  expect(powerActionsIn({ state })).toEqual(actions);
});

it.each([
  ['reboot', 'running', true],
  ['reboot', 'rebooting', false],
  ['start', 'creating', false],
  ['stop', 'running', false],
  ['stop', 'Stopped', true],
  ['stop', 'off', true],
] as const)('%s has reached its target state when the server is %s: %s', (action, state, isThere) => {
  expect(isTargetState(action, { state })).toBe(isThere);
});
