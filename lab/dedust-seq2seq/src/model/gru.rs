/*!
A gated recurrent unit (Cho et al., 2014), one layer.
*/

use burn::module::{Module, Param};
use burn::tensor::activation::{sigmoid, tanh};
use burn::tensor::{Device, Tensor, TensorData};

use crate::chance::Chance;

/// A layer that reads one input after the other and remembers what matters.
#[derive(Module, Debug)]
pub struct Gru {
    /// From the input to reset, update and candidate.
    input: Param<Tensor<2>>,
    input_bias: Param<Tensor<2>>,
    /// From the state to the same.
    state: Param<Tensor<2>>,
    state_bias: Param<Tensor<2>>,
}

/// Weights from `-bound` to `bound`.
pub(super) fn uniform(
    shape: [usize; 2],
    bound: f32,
    chance: &mut Chance,
    device: &Device,
) -> Param<Tensor<2>> {
    let numbers: Vec<f32> = (0..shape[0] * shape[1]).map(|_| (2.0 * chance.share() - 1.0) * bound).collect();
    Param::from_data(TensorData::new(numbers, shape), device)
}

impl Gru {
    pub(super) fn new(
        inputs: usize,
        states: usize,
        bound: f32,
        chance: &mut Chance,
        device: &Device,
    ) -> Self {
        Self {
            input: uniform([inputs, 3 * states], bound, chance, device),
            input_bias: uniform([1, 3 * states], bound, chance, device),
            state: uniform([states, 3 * states], bound, chance, device),
            state_bias: uniform([1, 3 * states], bound, chance, device),
        }
    }

    /// What the inputs contribute, all at once: rows in, rows out.
    pub(super) fn project(&self, inputs: Tensor<2>) -> Tensor<2> {
        inputs.matmul(self.input.val()) + self.input_bias.val()
    }

    /// The next state, from a projected input and the state before.
    pub(super) fn step(&self, input: Tensor<2>, state: Tensor<2>) -> Tensor<2> {
        let [rows, states] = state.dims();
        let from_state = state.clone().matmul(self.state.val()) + self.state_bias.val();
        let gates = sigmoid(
            input.clone().slice([0..rows, 0..2 * states])
                + from_state.clone().slice([0..rows, 0..2 * states]),
        );
        let reset = gates.clone().slice([0..rows, 0..states]);
        let update = gates.slice([0..rows, states..2 * states]);
        let candidate = tanh(
            input.slice([0..rows, 2 * states..3 * states])
                + reset * from_state.slice([0..rows, 2 * states..3 * states]),
        );
        candidate.clone() + update * (state - candidate)
    }

    /// All states, from inputs `[steps * rows, width]`, one step after the other, and the first state.
    pub(super) fn run(&self, inputs: Tensor<2>, first: Tensor<2>, is_backward: bool) -> Vec<Tensor<2>> {
        self.run_projected(self.project(inputs), first, is_backward)
    }

    /// The same from inputs that are projected already.
    pub(super) fn run_projected(
        &self,
        projected: Tensor<2>,
        first: Tensor<2>,
        is_backward: bool,
    ) -> Vec<Tensor<2>> {
        let [rows, _] = first.dims();
        let steps = projected.dims()[0] / rows.max(1);
        let mut inputs: Vec<Tensor<2>> = projected.split(rows, 0);
        if is_backward {
            inputs.reverse();
        }
        let mut states = Vec::with_capacity(steps);
        let mut state = first;
        for input in inputs {
            state = self.step(input, state);
            states.push(state.clone());
        }
        if is_backward {
            states.reverse();
        }
        states
    }
}
