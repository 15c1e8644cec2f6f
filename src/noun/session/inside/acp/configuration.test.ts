import { expect, test } from 'vitest';
import { commandsOf, configurationOf } from './configuration.ts';

const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }, { id: 'auto' }] };
const models = { currentModelId: 'big', availableModels: [{ modelId: 'big', name: 'Big', description: 'slow' }] };
const select = (id: string, options: readonly object[], category?: string) => ({
  ...{ id, type: 'select', currentValue: 'big', options, ...(category === undefined ? {} : { category }) },
});

test('modes and models that the agent lists are chosen by a method of their own', () => {
  const found = configurationOf({ modes, models });
  expect(found.modes).toEqual({
    choice: {
      current: 'ask',
      available: [
        { id: 'ask', name: 'Ask' },
        { id: 'auto', name: 'auto' },
      ],
    },
    setter: { method: 'session/set_mode', field: 'modeId' },
  });
  expect(found.models).toEqual({
    choice: { current: 'big', available: [{ id: 'big', name: 'Big', description: 'slow' }] },
    setter: { method: 'session/set_model', field: 'modelId' },
  });
});

test('an option of the category model, with or without groups, is preferred to a list of models', () => {
  const flat = configurationOf({ models, configOptions: [select('llm', [{ value: 'big' }], 'model')] });
  expect(flat.models?.setter).toEqual({ configId: 'llm' });
  const groups = [
    { group: 'a', options: [{ value: 'big' }] },
    { group: 'b', options: [{ value: 'small' }] },
  ];
  const grouped = configurationOf({ configOptions: [select('model', groups)] });
  expect(grouped.models?.choice.available.map(({ id }) => id)).toEqual(['big', 'small']);
});

test('modes and models in an unknown shape are ignored', () => {
  const nothing = { modes: null, models: null };
  for (const wrong of [
    {},
    { modes: [], models: 'big' },
    { modes: { currentModeId: 1, availableModes: [{ id: 'a' }] } },
  ])
    expect(configurationOf(wrong)).toEqual(nothing);
  expect(configurationOf({ modes: { currentModeId: 'a', availableModes: [null, 1] } })).toEqual(nothing);
  expect(configurationOf({ configOptions: [{ ...select('model', [{ value: 'big' }]), type: 'boolean' }] })).toEqual(
    nothing,
  );
});

test('commands are cut to a bounded list of names with descriptions', () => {
  expect(commandsOf([{ name: 'plan', description: 'makes a plan' }, { name: 7 }, { name: 'x' }])).toEqual([
    { name: 'plan', description: 'makes a plan' },
    { name: 'x', description: '' },
  ]);
  expect(commandsOf(Array.from({ length: 2000 }, () => ({ name: 'x' })))).toHaveLength(1000);
  expect(commandsOf([{ name: 'x'.repeat(20_000) }])[0]!.name).toHaveLength(10_000);
});
